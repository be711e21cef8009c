package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.app.StopServer;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code nexa-slurm serve stop}. */
final class ServeStopCommand extends Subcommand {
  private final PositionalParamSpec reference = run();
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  ServeStopCommand() {
    super(
        "stop",
        "Ends a server, waits until it is gone, and removes what it left registered.",
        "nexa-slurm serve stop latest");
  }

  @Override
  public Integer call() {
    Nexa nexa = existing();
    RunFolder run = new RunLookup(nexa.workspace()).find(reference.getValue()).run();
    JsonObject manifest = new StopServer(nexa).stop(run, err()::println);
    if (given(json)) {
      out()
          .print(
              Json.pretty(
                  new JsonObject()
                      .with("schema_version", 1)
                      .with("run_id", run.id().value())
                      .with("status", manifest.text("status"))
                      .with("state", manifest.text("state"))
                      .with("cost", manifest.text("cost"))
                      .with("currency", manifest.text("currency"))));
    } else {
      out()
          .println(
              run.id()
                  + ": "
                  + manifest.text("state")
                  + ", cost "
                  + manifest.text("cost")
                  + " "
                  + manifest.text("currency"));
    }
    return ExitCode.OK.status();
  }
}
