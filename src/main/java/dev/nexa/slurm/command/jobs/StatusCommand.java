package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.StatusRows;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm status}. */
public final class StatusCommand extends Subcommand {
  private static final Duration INTERVAL = Duration.ofSeconds(10);

  /** Each run takes a call of sacct and reads logs. */
  private static final int MOST_EXPLAINED = 5;

  private final PositionalParamSpec references =
      parameters("RUN", "A run id or its beginning, a run's name, `latest`, a job id or 12345_7.");
  private final OptionSpec watch =
      openOption(
          "--watch TIME",
          "Shows the runs and pipelines until you end it, and reads them again after this time,"
              + " such as 30s. Default: 10s. On a terminal: keys for logs, why and cancel.");
  private final OptionSpec json = jsonFlag();

  public StatusCommand() {
    super(
        "status",
        "Shows the state of the unfinished runs, or of the named runs. Changes nothing.",
        "nexa-slurm status",
        "nexa-slurm status latest",
        "nexa-slurm status --watch",
        "nexa-slurm status train_20251101_143200 --json");
  }

  @Override
  public Integer call() {
    Context context = existing();
    List<String> references = this.references.getValue();
    String time = watch.getValue();
    if (time != null) {
      return watch(context, time, references);
    }
    List<RunId> ids =
        references.isEmpty() ? context.workspace().openRuns() : ids(context, references);
    List<String> problems = new ArrayList<>();
    List<RunRow> rows = new StatusRows(context).rows(ids, problems);
    if (rows.stream().anyMatch(row -> row.tasks().failed() > 0)) {
      rows = explained(context, rows);
    }
    problems.forEach(err()::println);
    if (given(json)) {
      print(StatusText.json(rows));
    } else if (!rows.isEmpty() || problems.isEmpty()) {
      Workspace workspace = context.workspace();
      printTable(
          StatusText.of(
              rows,
              row -> CostFile.text(workspace.run(new RunId(row.runId())), row.spent().cost()),
              style()));
    }
    return ExitCode.OK.status();
  }

  /**
   * Watches the runs.
   *
   * @param typed what was typed after the option; a run's name if it is no length of time
   */
  private int watch(Context context, String typed, List<String> references) {
    if (given(json)) {
      throw ErrorCode.OPTIONS_CONFLICT.error(
          "--watch prints again and again, and --json prints one document",
          Advice.command("prints the document of this moment", "nexa-slurm", "status", "--json"));
    }
    Optional<Duration> time = typed.isEmpty() ? Optional.of(INTERVAL) : Span.of(typed);
    boolean attached =
        spec().commandLine().getParseResult().originalArgs().contains("--watch=" + typed);
    if (time.isEmpty() ? attached : time.get().isZero()) {
      throw invalid(
          "--watch=" + typed + ": expected a time of 1s or more, such as 10s" + Span.hint(typed));
    }
    List<String> named = new ArrayList<>(references);
    if (time.isEmpty()) {
      named.add(0, typed);
    }
    WatchRuns runs = new WatchRuns(context, ids(context, named), time.orElse(INTERVAL));
    return WatchRuns.hasTerminal(environment()) ? runs.onTerminal() : runs.asLines(out());
  }

  private static List<RunId> ids(Context context, List<String> references) {
    RunLookup lookup = new RunLookup(context.workspace());
    return references.stream().map(reference -> lookup.find(reference).run().id()).toList();
  }

  /** Returns the rows, oldest first; the newest failed ones that have no note get one. */
  private static List<RunRow> explained(Context context, List<RunRow> rows) {
    ExplainRun explain = new ExplainRun(context);
    List<RunRow> explained = new ArrayList<>(rows);
    int asked = 0;
    for (int i = rows.size() - 1; i >= 0 && asked < MOST_EXPLAINED; i--) {
      RunRow row = rows.get(i);
      if (row.tasks().failed() > 0 && row.note().isEmpty()) {
        Optional<String> why = explain.headline(context.workspace().run(new RunId(row.runId())));
        explained.set(i, why.map(row::noted).orElse(row));
        asked++;
      }
    }
    return explained;
  }
}
