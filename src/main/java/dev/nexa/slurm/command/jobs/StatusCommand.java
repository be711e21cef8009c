package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.reconcile.RunRow;
import dev.nexa.slurm.run.reconcile.StatusRows;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm status}. */
public final class StatusCommand extends Subcommand {
  private final PositionalParamSpec references =
      add(
          PositionalParamSpec.builder()
              .paramLabel("RUN")
              .arity("0..*")
              .type(List.class)
              .auxiliaryTypes(String.class)
              .initialValue(new ArrayList<>()),
          "A run id or its beginning, a run's name, `latest`, a job id or 12345_7.");
  private final OptionSpec json = jsonFlag();

  public StatusCommand() {
    super(
        "status",
        "Shows the state of the unfinished runs, or of the named runs. Changes nothing.",
        "nexa-slurm status",
        "nexa-slurm status latest",
        "nexa-slurm status train_20251101_143200 --json");
  }

  @Override
  public Integer call() {
    Context context = existing();
    PrintWriter out = out();
    List<String> references = this.references.getValue();
    List<RunId> ids = new ArrayList<>();
    RunLookup lookup = new RunLookup(context.workspace());
    references.forEach(reference -> ids.add(lookup.find(reference).run().id()));
    List<String> problems = new ArrayList<>();
    List<RunRow> rows =
        new StatusRows(context)
            .rows(references.isEmpty() ? context.workspace().openRuns() : ids, problems);
    if (rows.stream().anyMatch(row -> row.failed() > 0)) {
      rows = new FailedRows(context).explained(rows);
    }
    problems.forEach(err()::println);
    if (references.isEmpty()) {
      lookup.openWithoutFolder().forEach(err()::println);
    }
    if (given(json)) {
      out.print(Json.pretty(StatusText.json(rows)));
    } else {
      printTable(StatusText.of(rows, style()));
    }
    return ExitCode.OK.status();
  }
}
