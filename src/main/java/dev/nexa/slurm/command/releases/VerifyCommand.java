package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.command.releases.SignCommand.SignRelease;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import dev.nexa.slurm.storage.oms.EcKeys;
import dev.nexa.slurm.storage.oms.OmsException;
import dev.nexa.slurm.storage.oms.OmsSignature;
import dev.nexa.slurm.storage.releases.ReleaseContent;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.ReleaseSignatures;
import dev.nexa.slurm.storage.releases.ReleaseTar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code release verify}. */
final class VerifyCommand extends OfTier {
  /** At most so many files are printed. */
  private static final int MOST_SHOWN = 20;

  private final PositionalParamSpec what =
      parameter("NAME|DIR|FILE.tar.zst", "A release's name, or the path of its folder or archive.");
  private final OptionSpec omsKey =
      option(
          "--oms-key FILE",
          "Checks the signature in the OpenSSF Model Signing format by this public key, and no"
              + " others. DIR can then be any folder.");
  private final OptionSpec omsCertificate =
      option(
          "--oms-certificate FILE",
          "In place of --oms-key: the certificates in PEM that are trusted, for a signature that was"
              + " made with a certificate.");
  private final OptionSpec signature =
      option(
          "--signature FILE",
          "With these: the signature. Default: signatures/model.sig of a release, model.sig of"
              + " another folder.");
  private final OptionSpec ignoreUnsigned =
      flag(
          "--ignore-unsigned-files", "With these: accepts files in the folder that nobody signed.");
  private final OptionSpec json = jsonFlag();

  VerifyCommand() {
    super(
        "verify",
        "Reads all files of a release again, and checks who signed it. Exit status 0 only if all"
            + " files are right and an approver has signed.",
        "nexa-slurm release verify train-demo_20251101_143200",
        "nexa-slurm release verify demo.tar.zst",
        "nexa-slurm release verify models/llama --oms-key publisher.pub");
  }

  @Override
  public Integer call() {
    if (given(omsKey) && given(omsCertificate)) {
      throw conflict(
          "--oms-key and --oms-certificate exclude each other",
          "a signature was made with a key or with a certificate: name one of them");
    }
    Context context = existing();
    String typed = what.getValue();
    Path path = Path.of(typed);
    boolean oms = given(omsKey) || given(omsCertificate);
    boolean isPath = typed.contains("/") || typed.endsWith(".tar.zst") || isFolder(path, oms);
    if (isPath && Files.notExists(path)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "there is no folder or archive " + path,
          Advice.command("shows the releases", "nexa-slurm release list"));
    }
    if (oms) {
      return oms(isPath ? path : release(context, typed).path());
    }
    ReleaseContent content =
        isPath
            ? Files.isDirectory(path) ? ReleaseContent.of(path) : ReleaseTar.read(path)
            : ReleaseContent.of(release(context, typed));
    List<String> problems = content.problems();
    if (!problems.isEmpty() && !given(json)) {
      requireIntact(typed, problems);
    }
    List<String> notes = new ArrayList<>();
    List<ReleaseSignatures.Judged> signatures =
        problems.isEmpty() ? signatures(context, content, notes) : List.of();
    boolean signed = signatures.stream().anyMatch(one -> one.refusal().isEmpty());
    if (given(json)) {
      print(document(content, problems, signatures, signed, notes));
      ExitCode status = signed ? ExitCode.OK : ExitCode.NEEDS_APPROVAL;
      return (problems.isEmpty() ? status : ExitCode.DEFECT).status();
    }
    String name = content.document().origin().release();
    signatures.forEach(one -> say(sentence(one)));
    notes.forEach(this::note);
    if (!signed) {
      out().flush();
      throw ErrorCode.RELEASE_UNSIGNED.error(
          "all files of %s are right, but no signature of an approver on it counts%s"
              .formatted(name, signatures.isEmpty() ? ": nobody has signed it" : ""),
          "an approver types: nexa-slurm release sign " + name);
    }
    say(
        "%s is right: %s files, %s, digest %s"
            .formatted(
                name,
                content.document().files().size(),
                Memory.rounded(content.document().bytes()),
                content.digest()));
    return ExitCode.OK.status();
  }

  /** The word names a folder here only if that can be verified; else it is a release's name. */
  private static boolean isFolder(Path path, boolean oms) {
    return Files.isDirectory(path) && (oms || Files.exists(path.resolve(ReleaseFolder.DOCUMENT)));
  }

  /** Returns the policy's approvers; empty, with a note, if nobody's signature can count. */
  static Optional<PolicyApprovals> approvals(Context context, Consumer<String> note) {
    try {
      return Optional.of(PolicyApprovals.of(context, context.configs().policy()));
    } catch (NexaException nobody) {
      if (nobody.code() == ErrorCode.POLICY_INCOMPLETE
          || nobody.code() == ErrorCode.APPROVALS_UNUSABLE) {
        note.accept("no signature can be checked: " + nobody.getMessage());
        return Optional.empty();
      }
      throw nobody;
    }
  }

  private static List<ReleaseSignatures.Judged> signatures(
      Context context, ReleaseContent content, List<String> notes) {
    return approvals(context, notes::add)
        .map(approvals -> approvals.signatures(content).all())
        .orElse(List.of());
  }

  private static String sentence(ReleaseSignatures.Judged one) {
    String who =
        one.signOff()
            .map(it -> it.signer() + " at " + it.at())
            .orElse("the file signatures/" + one.file());
    return VisibleText.line(
        one.refusal().isEmpty()
            ? "signed by " + who + ", an approver"
            : "does not count: " + who + ": " + one.refusal().get());
  }

  /**
   * Checks that there are no problems.
   *
   * @throws NexaException with {@link ErrorCode#RELEASE_DAMAGED} that names the first of them
   */
  static void requireIntact(String release, List<String> problems) {
    if (problems.isEmpty()) {
      return;
    }
    List<Advice> advice = new ArrayList<>();
    problems.stream().limit(MOST_SHOWN).map(Advice::step).forEach(advice::add);
    if (problems.size() > MOST_SHOWN) {
      advice.add(Advice.step("and " + (problems.size() - MOST_SHOWN) + " more"));
    }
    advice.add(Advice.step("do not use it; package the run again under another name: --name NAME"));
    throw ErrorCode.RELEASE_DAMAGED.error(
        "the release %s is damaged: %s missing, changed or additional"
            .formatted(
                release, problems.size() == 1 ? "1 file is" : problems.size() + " files are"),
        advice);
  }

  private static JsonObject document(
      ReleaseContent content,
      List<String> problems,
      List<ReleaseSignatures.Judged> signatures,
      boolean signed,
      List<String> notes) {
    List<JsonObject> listed = new ArrayList<>();
    for (ReleaseSignatures.Judged one : signatures) {
      JsonObject entry = new JsonObject().with("file", one.file());
      one.signOff().map(ReleaseText::json).ifPresent(entry::with);
      listed.add(
          entry.with("counts", one.refusal().isEmpty()).with("reason", one.refusal().orElse(null)));
    }
    JsonObject document = JsonObject.ofVersion(1);
    if (problems.isEmpty()) {
      document
          .with("release", content.document().origin().release())
          .with("run_id", content.document().origin().run())
          .with("files", content.document().files().size())
          .with("bytes", content.document().bytes());
    }
    return document
        .with("digest", content.digest())
        .with("intact", problems.isEmpty())
        .with("problems", problems)
        .with("signed", signed)
        .with("signatures", listed)
        .with("notes", notes);
  }

  private Integer oms(Path folder) {
    boolean isRelease = Files.exists(folder.resolve(ReleaseFolder.DOCUMENT));
    Path model = isRelease ? folder.resolve(ReleaseFolder.MODEL) : folder;
    Path usual =
        isRelease
            ? folder.resolve(ReleaseFolder.SIGNATURES).resolve(SignRelease.OMS)
            : Files.isDirectory(folder)
                ? folder.resolve(SignRelease.OMS)
                : folder.resolveSibling(SignRelease.OMS);
    Path bundle = value(signature).map(Path::of).orElse(usual);
    if (Files.notExists(bundle)) {
      throw ErrorCode.RELEASE_UNSIGNED.error(
          "there is no signature " + bundle,
          "name the signature: --signature FILE",
          "or sign a release: nexa-slurm release sign NAME --format oms --key FILE");
    }
    List<String> problems;
    try {
      OmsSignature.Scope scope = new OmsSignature.Scope(bundle, List.of(), given(ignoreUnsigned));
      String text = DurableFiles.read(bundle);
      String key = omsKey.getValue();
      problems =
          key != null
              ? OmsSignature.verify(
                  model, text, scope, EcKeys.publicKey(DurableFiles.read(Path.of(key))))
              : OmsSignature.verify(
                  model,
                  text,
                  scope,
                  OmsSignature.certificates(
                      DurableFiles.readBytes(Path.of(omsCertificate.<String>getValue()))),
                  Instant.now());
    } catch (OmsException broken) {
      throw ErrorCode.RELEASE_UNSIGNED.error(
          "the signature " + bundle + " does not count: " + broken.getMessage(),
          broken,
          Advice.step("ask the publisher for the public key, and name it: --oms-key FILE"),
          Advice.step("or for the certificate above the publisher's: --oms-certificate FILE"));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", model, failed);
    }
    if (given(json)) {
      print(
          JsonObject.ofVersion(1)
              .with("folder", model.toString())
              .with("signature", bundle.toString())
              .with("intact", problems.isEmpty())
              .with("problems", problems));
      return (problems.isEmpty() ? ExitCode.OK : ExitCode.DEFECT).status();
    }
    requireIntact(folder.toString(), problems);
    say(model + " is what was signed in " + bundle);
    return ExitCode.OK.status();
  }
}
