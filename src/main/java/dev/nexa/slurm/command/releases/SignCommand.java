package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.command.shared.SigningKey;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.signatures.SshPublicKey;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import dev.nexa.slurm.storage.oms.EcKeys;
import dev.nexa.slurm.storage.oms.OmsException;
import dev.nexa.slurm.storage.oms.OmsSignature;
import dev.nexa.slurm.storage.releases.DeployCheck;
import dev.nexa.slurm.storage.releases.ReleaseContent;
import dev.nexa.slurm.storage.releases.ReleaseFile;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.ReleaseSignatures;
import dev.nexa.slurm.storage.releases.RunComparison;
import dev.nexa.slurm.storage.releases.SignOff;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code release sign}. */
final class SignCommand extends OfTier {
  private static final List<String> FORMATS = List.of("ssh", "oms");

  private final PositionalParamSpec release =
      parameter("NAME", "A release, as `release list` names it.");
  private final OptionSpec key =
      option(
          "--key FILE",
          "The key. Default: your first key in ~/.ssh. With `--format oms`: an unencrypted ECDSA"
              + " key, in PEM or in OpenSSH's format.");
  private final OptionSpec as =
      option("--as PRINCIPAL", "Your name in allowed_signers, if the key has several.");
  private final OptionSpec format =
      option(
          "--format FORMAT",
          "`ssh` (default): an approver's signature, which `release deploy` needs. `oms`: the"
              + " OpenSSF Model Signing format over the folder model/, which other tools check.");
  private final OptionSpec yes = flag("-y, --yes", "Signs without a question; a script needs it.");
  private final OptionSpec dryRun = flag("--dry-run", "Shows what would be signed; signs nothing.");
  private final OptionSpec json = jsonFlag();

  SignCommand() {
    super(
        "sign",
        "Checks all files of a release, shows its facts, and signs it with your SSH key.",
        "nexa-slurm release sign train-demo_20251101_143200",
        "nexa-slurm release sign train-demo_20251101_143200 --format oms --key model-key.pem");
  }

  @Override
  public Integer call() {
    String chosen = value(format).orElse("ssh");
    if (!FORMATS.contains(chosen)) {
      throw invalid("--format: expected ssh or oms, got '" + chosen + "'", "--format ssh");
    }
    Context context = existing();
    ReleaseFolder folder = release(context, release.getValue());
    ReleaseContent content = ReleaseContent.of(folder);
    VerifyCommand.requireIntact(folder.name(), content.problems());
    SignRelease sign = new SignRelease(context, folder, content, value(as));
    Optional<String> keyFile = value(key);
    SignRelease.Ready ready =
        chosen.equals("oms") ? sign.readyForOms(keyFile) : sign.ready(keyFile);
    RunComparison compared =
        RunComparison.of(
            context.workspace(),
            folder,
            content.document(),
            context.configs().policy().releases().refusesUncompared());
    compared.refusal().ifPresent(why -> refuse(folder.name(), why));
    if (ready.already().isPresent()) {
      return printed(content, ready, compared, false);
    }
    if (!given(json)) {
      show(content, ready, compared);
    }
    if (given(dryRun)) {
      return given(json) ? printed(content, ready, compared, false) : ExitCode.OK.status();
    }
    if (!given(yes) && !confirmed("Sign it?")) {
      remark("nothing was signed");
      return ExitCode.OK.status();
    }
    Path file = ready.sign().get();
    if (given(json)) {
      return printed(content, ready, compared, true);
    }
    say("signed by " + ready.signer() + ": " + file);
    return ExitCode.OK.status();
  }

  private static void refuse(String name, DeployCheck.Refusal why) {
    List<Advice> advice = new ArrayList<>(why.next());
    advice.add(Advice.step("nothing was signed"));
    throw ErrorCode.RELEASE_DIFFERS.error(
        VisibleText.line("the release " + name + " cannot be signed: " + why.why()), advice);
  }

  private void show(ReleaseContent content, SignRelease.Ready ready, RunComparison compared) {
    ReleaseFile document = content.document();
    say("release " + document.origin().release());
    say("  digest      " + content.digest());
    print(ReleaseText.facts(document));
    say("  records     " + VisibleText.line(compared.words()));
    say("  signer      " + ready.signer());
    say("  key         " + ready.key());
    out().flush();
  }

  private Integer printed(
      ReleaseContent content, SignRelease.Ready ready, RunComparison compared, boolean signed) {
    return answer(
        json,
        () ->
            JsonObject.ofVersion(1)
                .with("release", content.document().origin().release())
                .with("digest", content.digest())
                .with("signer", ready.signer())
                .with("records", compared.words())
                .with("signed", signed)
                .with("already_signed", ready.already().isPresent())
                .with("file", ready.file().toString()),
        () -> say("already signed by " + ready.signer() + ": " + ready.file()));
  }

  /**
   * Signs a release whose files were found right. A signature that would not count is refused
   * before anybody is asked.
   *
   * @param content what the folder really holds
   * @param principal the signer's name in allowed_signers; empty to look the key up
   */
  record SignRelease(
      Context context, ReleaseFolder folder, ReleaseContent content, Optional<String> principal) {
    /** The name of the signature in the OpenSSF Model Signing format. */
    static final String OMS = "model.sig";

    private static final String NAMESPACES = Approval.NAMESPACE + "," + SignOff.NAMESPACE;

    /**
     * A signature that can be made.
     *
     * @param signer who signs
     * @param key the key, for people
     * @param file the signature's file
     * @param already present if this signature is there already, and counts
     * @param sign signs and writes the file
     */
    record Ready(
        String signer, String key, Path file, Optional<SignOff> already, Supplier<Path> sign) {}

    /**
     * Prepares an approver's signature.
     *
     * @param keyFile the key that was typed
     * @throws NexaException if the policy would not accept the signature
     */
    Ready ready(Optional<String> keyFile) {
      PolicyApprovals approvals = PolicyApprovals.of(context, context.configs().policy());
      Signers signers = approvals.signers();
      if (!signers.problems().isEmpty()) {
        throw ErrorCode.APPROVAL_REFUSED.error(
            "nobody can sign until this is fixed: " + String.join("; ", signers.problems()),
            SigningKey.owners(approvals) + " can fix " + signers.allowed().file(),
            "nothing was signed");
      }
      requireWritable();
      SigningKey key =
          SigningKey.of(context.environment(), keyFile, new SigningKey.Use("release sign", true));
      UnixUser submitter = content.document().origin().submitter();
      String signer =
          principal.orElseGet(() -> key.principal(approvals, Optional.empty(), NAMESPACES));
      Instant now = Instant.ofEpochSecond(Instant.now().getEpochSecond());
      Optional<String> untimely = ReleaseSignatures.untimely(now, content.document(), now);
      if (untimely.isPresent()) {
        throw ErrorCode.APPROVAL_REFUSED.error(
            "this signature would not count: " + untimely.get(),
            "set the clock of this host, then sign; nothing was signed");
      }
      key.publicKey().ifPresent(half -> requireMaySign(approvals, signer, half, submitter, now));
      SignOff unsigned =
          new SignOff(
              content.document().origin().release(), content.digest(), signer, now, "unsigned");
      Path file = folder.signatures().resolve(unsigned.fileName());
      return new Ready(
          signer,
          key.text(),
          file,
          already(approvals, signer),
          () -> {
            String armored = key.sign(unsigned.statement(), SignOff.NAMESPACE);
            SignOff signed =
                new SignOff(unsigned.release(), unsigned.digest(), signer, now, armored);
            requireMaySign(approvals, signer, signed.signed().signature().key(), submitter, now);
            Optional<String> refusal = signers.refusal(signed.signed(), now);
            if (refusal.isPresent()) {
              throw refused(approvals, refusal.get());
            }
            return keep(file, signed.text());
          });
    }

    private Optional<SignOff> already(PolicyApprovals approvals, String signer) {
      return approvals.signatures(content).valid().stream()
          .filter(one -> one.signer().equals(signer))
          .findFirst();
    }

    private static void requireMaySign(
        PolicyApprovals approvals,
        String signer,
        SshPublicKey key,
        UnixUser submitter,
        Instant now) {
      Signers signers = approvals.signers();
      Optional<String> refusal = signers.refusal(signer, key, SignOff.NAMESPACE, now);
      if (refusal.isPresent()) {
        throw refused(approvals, refusal.get());
      }
      Optional<String> own =
          submitter.mayBe(signer)
              ? Optional.of(signer)
              : signers.nameOf(key, Optional.of(submitter));
      if (own.isPresent() && !approvals.policy().selfApproval()) {
        throw ErrorCode.APPROVAL_BY_SUBMITTER.error(
            ("%s gives this key to %s, who may be %s, who submitted the run:"
                    + " submitters cannot sign releases of their own runs")
                .formatted(signers.allowed().file(), own.get(), submitter.user()),
            "somebody else of allowed_signers can sign it",
            "nothing was signed");
      }
    }

    private static NexaException refused(PolicyApprovals approvals, String why) {
      return ErrorCode.APPROVAL_REFUSED.error(
          "this signature would not count: " + why,
          "%s can change the line: namespaces=\"%s\" lets a key sign approvals and releases"
              .formatted(SigningKey.owners(approvals), NAMESPACES),
          "nothing was signed");
    }

    /**
     * Prepares a signature in the OpenSSF Model Signing format.
     *
     * @throws NexaException if there is no key, or if it cannot make the format
     */
    Ready readyForOms(Optional<String> keyFile) {
      if (keyFile.isEmpty()) {
        throw ErrorCode.ARGUMENT_MISSING.error(
            "--format oms needs --key FILE: an ECDSA key",
            Advice.command("makes one", "ssh-keygen", "-t", "ecdsa", "-N", "", "-f", "model-key"));
      }
      requireWritable();
      Path path = Path.of(keyFile.get());
      Path file = folder.signatures().resolve(OMS);
      try {
        KeyPair pair = EcKeys.pair(DurableFiles.read(path));
        return new Ready(
            "the holder of the key",
            path.toString(),
            file,
            Optional.empty(),
            () -> sign(pair, file));
      } catch (OmsException unusable) {
        throw ErrorCode.SIGNING_FAILED.error(
            "--key " + path + ": " + unusable.getMessage(),
            unusable,
            Advice.step("expected an unencrypted ECDSA key: " + String.join(", ", EcKeys.types())));
      }
    }

    private Path sign(KeyPair pair, Path file) {
      try {
        OmsSignature.Scope scope = new OmsSignature.Scope(file, List.of(), false);
        return keep(file, OmsSignature.sign(folder.model(), scope, pair, List.of()));
      } catch (OmsException unusable) {
        throw ErrorCode.SIGNING_FAILED.error(
            "model/ cannot be signed: " + unusable.getMessage(), unusable);
      } catch (IOException failed) {
        throw DurableFiles.failure("read", folder.model(), failed);
      }
    }

    /** A signature that cannot be stored is work for nothing. */
    private void requireWritable() {
      Path there = Files.exists(folder.signatures()) ? folder.signatures() : folder.path();
      if (!Files.isWritable(there)) {
        String owner = Workspace.ownerOf(there);
        throw ErrorCode.SIGNING_FAILED.error(
            "the signature can't be written: you may not write to " + folder.signatures(),
            ("to let all approvers write there, %s types: install -d -m 2775 -g"
                    + " APPROVERS %s (APPROVERS: a Unix group of the approvers)")
                .formatted(owner, Advice.command("", folder.signatures())),
            "nothing was signed");
      }
    }

    private Path keep(Path file, String text) {
      DurableFiles files = new DurableFiles(context.disk());
      files.directories(folder.signatures());
      files.replace(file, text);
      return file;
    }
  }
}
