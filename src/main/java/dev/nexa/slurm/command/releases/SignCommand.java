package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.releases.DeployCheck;
import dev.nexa.slurm.storage.releases.ReleaseContent;
import dev.nexa.slurm.storage.releases.ReleaseFile;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.RunComparison;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code release sign}. */
final class SignCommand extends OfTier {
  private static final List<String> FORMATS = List.of("ssh", "oms");

  private final PositionalParamSpec release =
      add(
          PositionalParamSpec.builder().paramLabel("NAME").type(String.class).required(true),
          "A release, as `release list` names it.");
  private final OptionSpec key =
      option(
          "--key",
          "FILE",
          "The key. Default: your first key in ~/.ssh. With `--format oms`: an unencrypted ECDSA"
              + " key, in PEM or in OpenSSH's format.");
  private final OptionSpec as =
      option("--as", "PRINCIPAL", "Your name in allowed_signers, if the key has several.");
  private final OptionSpec format =
      option(
          "--format",
          "FORMAT",
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
    String chosen = Optional.ofNullable(format.<String>getValue()).orElse("ssh");
    if (!FORMATS.contains(chosen)) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--format: expected ssh or oms, got '" + chosen + "'",
          Advice.step("--format ssh"));
    }
    Context context = existing();
    ReleaseFolder folder = release(context, release.getValue());
    ReleaseContent content = ReleaseContent.of(folder);
    VerifyCommand.requireIntact(folder.name(), content.problems());
    SignRelease sign =
        new SignRelease(context, folder, content, Optional.ofNullable(as.getValue()));
    Optional<String> keyFile = Optional.ofNullable(key.getValue());
    SignRelease.Ready ready =
        chosen.equals("oms") ? sign.readyForOms(keyFile) : sign.ready(keyFile);
    RunComparison compared =
        RunComparison.of(
            context.workspace(),
            folder,
            content.document(),
            context.configs().policy().refusesUncompared());
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
      err().println("nothing was signed");
      return ExitCode.OK.status();
    }
    Path file = ready.sign().get();
    if (given(json)) {
      return printed(content, ready, compared, true);
    }
    out().println("signed by " + ready.signer() + ": " + file);
    return ExitCode.OK.status();
  }

  private static void refuse(String name, DeployCheck.Refusal why) {
    List<Advice> advice = new ArrayList<>(why.next());
    advice.add(Advice.step("nothing was signed"));
    throw new NexaException(
        ErrorCode.RELEASE_DIFFERS,
        VisibleText.line("the release " + name + " cannot be signed: " + why.why()),
        advice);
  }

  private void show(ReleaseContent content, SignRelease.Ready ready, RunComparison compared) {
    ReleaseFile document = content.document();
    out().println("release " + document.origin().release());
    out().println("  digest      " + content.digest());
    out().print(ReleaseText.facts(document));
    out().println("  records     " + VisibleText.line(compared.words()));
    out().println("  signer      " + ready.signer());
    out().println("  key         " + ready.key());
    out().flush();
  }

  private Integer printed(
      ReleaseContent content, SignRelease.Ready ready, RunComparison compared, boolean signed) {
    if (given(json)) {
      print(
          new JsonObject()
              .with("schema_version", 1)
              .with("release", content.document().origin().release())
              .with("digest", content.digest())
              .with("signer", ready.signer())
              .with("records", compared.words())
              .with("signed", signed)
              .with("already_signed", ready.already().isPresent())
              .with("file", ready.file().toString()));
    } else {
      out().println("already signed by " + ready.signer() + ": " + ready.file());
    }
    return ExitCode.OK.status();
  }
}
