package dev.nexa.slurm.command.serve;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.serving.StopServer;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm serve stop}. */
final class ServeStopCommand extends Subcommand {
  private final PositionalParamSpec reference = run();
  private final OptionSpec json = jsonFlag();

  ServeStopCommand() {
    super(
        "stop",
        "Ends a server, waits until it is gone, and removes its registration.",
        "nexa-slurm serve stop latest");
  }

  @Override
  public Integer call() {
    Context context = existing();
    RunFolder run = new RunLookup(context.workspace()).find(reference.getValue()).run();
    ManifestFile manifest = new StopServer(context).stop(run, err()::println);
    Money cost = manifest.cost().orElseThrow();
    return answer(
        json,
        () ->
            JsonObject.ofVersion(1)
                .with("run_id", run.id().value())
                .with("status", manifest.status().text())
                .with("state", manifest.state())
                .with("cost", cost.amount().toPlainString())
                .with("currency", cost.currency()),
        () -> say(run.id() + ": " + manifest.state() + ", cost " + CostFile.text(run, cost)));
  }
}
