package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.app.ShowStatus;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.report.RunRow;
import dev.nexa.slurm.report.StatusText;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nexa-slurm status}. */
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    description = "Shows what the unfinished runs, or the named ones, are doing. Changes nothing.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  nexa-slurm status",
      "  nexa-slurm status latest",
      "  nexa-slurm status train_20251101_143200 --json"
    })
final class StatusCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "RUN",
      arity = "0..*",
      description = "A run id, `latest`, a job id or 12345_7.")
  private List<String> references = new ArrayList<>();

  @Option(names = "--json", description = "Prints one JSON document.")
  private boolean json;

  @Override
  public Integer call() {
    Nexa nexa = RootCommand.of(spec).nexa();
    PrintWriter out = spec.commandLine().getOut();
    List<RunId> ids = new ArrayList<>();
    RunLookup lookup = new RunLookup(nexa.workspace());
    references.forEach(reference -> ids.add(lookup.find(reference).run().id()));
    List<RunRow> rows =
        new ShowStatus(nexa).rows(references.isEmpty() ? nexa.workspace().openRuns() : ids);
    if (json) {
      List<JsonObject> runs = rows.stream().map(RunRow::toJson).toList();
      out.print(Json.pretty(new JsonObject().with("schema_version", 1).with("runs", runs)));
    } else {
      out.print(StatusText.of(rows));
    }
    return ExitCode.OK.status();
  }
}
