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
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code nexa-slurm status}. */
final class StatusCommand extends Subcommand {
  private final PositionalParamSpec references =
      add(
          PositionalParamSpec.builder()
              .paramLabel("RUN")
              .arity("0..*")
              .type(List.class)
              .auxiliaryTypes(String.class)
              .initialValue(new ArrayList<>()),
          "A run id, `latest`, a job id or 12345_7.");
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  StatusCommand() {
    super(
        "status",
        "Shows what the unfinished runs, or the named ones, are doing. Changes nothing.",
        "nexa-slurm status",
        "nexa-slurm status latest",
        "nexa-slurm status train_20251101_143200 --json");
  }

  @Override
  public Integer call() {
    Nexa nexa = existing();
    PrintWriter out = out();
    List<String> references = this.references.getValue();
    List<RunId> ids = new ArrayList<>();
    RunLookup lookup = new RunLookup(nexa.workspace());
    references.forEach(reference -> ids.add(lookup.find(reference).run().id()));
    List<String> problems = new ArrayList<>();
    List<RunRow> rows =
        new ShowStatus(nexa)
            .rows(references.isEmpty() ? nexa.workspace().openRuns() : ids, problems);
    problems.forEach(err()::println);
    if (given(json)) {
      List<JsonObject> runs = rows.stream().map(RunRow::toJson).toList();
      out.print(Json.pretty(new JsonObject().with("schema_version", 1).with("runs", runs)));
    } else {
      out.print(StatusText.of(rows));
    }
    return ExitCode.OK.status();
  }
}
