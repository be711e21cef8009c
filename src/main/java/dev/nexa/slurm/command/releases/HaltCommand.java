package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.storage.releases.Halt;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm halt}. */
public final class HaltCommand extends Subcommand {
  private final OptionSpec reason =
      option("--reason", "TEXT", "Why; everybody who is stopped reads it.");
  private final OptionSpec pipeline =
      option("--pipeline", "NAME", "Stops only the pipelines of this name. Default: stops all.");
  private final OptionSpec cluster = DeployCommand.cluster(this);
  private final OptionSpec json = jsonFlag();

  public HaltCommand() {
    super(
        "halt",
        "Stops every release: until an approver types `unhalt`, nothing is deployed, no server and no"
            + " stage of the policy's gate_before starts. Needs no key.",
        "nexa-slurm halt --reason 'answers leak names'",
        "nexa-slurm halt --pipeline distill --reason 'the judge is broken'",
        "nexa-slurm halt list");
    spec().addSubcommand("list", new HaltListCommand().spec());
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), Optional.ofNullable(cluster.getValue()));
    Halt halt =
        place
            .halts()
            .set(
                Instant.now().truncatedTo(ChronoUnit.SECONDS),
                UnixUser.me().user(),
                ProcessIdentity.ofThisProcess().host(),
                Optional.ofNullable(reason.<String>getValue()).orElse(""),
                Optional.ofNullable(pipeline.getValue()));
    if (given(json)) {
      JsonObject document = halt.json();
      out().print(Json.pretty(document));
      return ExitCode.OK.status();
    }
    out()
        .println(
            halt.id()
                + " is in force: "
                + halt.pipeline()
                    .map(name -> "nothing of the pipeline " + name + " is released")
                    .orElse("nothing is released"));
    out().println("  what runs goes on: `nexa-slurm serve list` shows the servers");
    out().println("  `nexa-slurm release rollback` stays possible");
    out().println("  an approver lifts it: nexa-slurm unhalt " + halt.id());
    return ExitCode.OK.status();
  }
}
