package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.storage.releases.Halts;
import dev.nexa.slurm.storage.releases.LiftedHalt;
import dev.nexa.slurm.storage.releases.LineSigner;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm unhalt}. */
public final class UnhaltCommand extends Subcommand {
  private final PositionalParamSpec id =
      add(
          PositionalParamSpec.builder().paramLabel("HALT").type(String.class).required(true),
          "The halt, as `halt list` shows it.");
  private final OptionSpec key =
      option("--key", "FILE", "The approver's SSH key. Default: the first of ssh's own keys.");
  private final OptionSpec reason = option("--reason", "TEXT", "Why it may go on.");
  private final OptionSpec cluster = DeployCommand.cluster(this);
  private final OptionSpec yes = flag("-y, --yes", "Lifts it without a question, as scripts must.");
  private final OptionSpec json = jsonFlag();

  public UnhaltCommand() {
    super(
        "unhalt",
        "Lifts a halt with an approver's signature.",
        "nexa-slurm unhalt halt_20251101_143200 --reason 'the judge was mended'");
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), Optional.ofNullable(cluster.getValue()));
    place.approvals();
    Halts halts = place.halts();
    Halts.Judged halt = halts.existing(id.getValue(), place.signers());
    if (!halt.inForce()) {
      return tell(halt, "was lifted before");
    }
    LineSigner signer = place.signer(Optional.ofNullable(key.getValue()));
    if (!given(json)) {
      out().println(halt.halt().id() + ", " + halt.halt().words());
      out().flush();
    }
    DeployCommand.requireAnswer(this, given(yes), "lift " + halt.halt().id());
    if (!given(yes) && !confirmed("Lift it?")) {
      err().println("nothing was changed");
      return ExitCode.NEEDS_APPROVAL.status();
    }
    LiftedHalt unsigned =
        new LiftedHalt(
            halt.halt().id(),
            halts.digest(halt.halt()),
            Instant.now().truncatedTo(ChronoUnit.SECONDS),
            signer.author(),
            Optional.ofNullable(reason.<String>getValue()).orElse(""),
            "");
    halts.lift(unsigned.signed(signer.sign(unsigned.statement())));
    Halts.Judged now = halts.existing(halt.halt().id(), place.signers());
    if (now.inForce()) {
      err()
          .println(
              "nexa-slurm: "
                  + halt.halt().id()
                  + " is still in force: "
                  + now.refusal().orElse("its lifting cannot be read"));
      return ExitCode.NEEDS_APPROVAL.status();
    }
    return tell(now, "is lifted");
  }

  private Integer tell(Halts.Judged halt, String what) {
    if (given(json)) {
      out()
          .print(
              Json.pretty(
                  new JsonObject()
                      .with("schema_version", 1)
                      .with("halt_id", halt.halt().id())
                      .with("in_force", halt.inForce())
                      .with(
                          "lifted_by",
                          halt.lifted().map(lift -> lift.signer().signer()).orElse(null))));
    } else {
      out().println(halt.halt().id() + " " + what);
      out().println("  a pipeline goes on with: nexa-slurm pipeline resume PIPELINE");
    }
    return ExitCode.OK.status();
  }
}
