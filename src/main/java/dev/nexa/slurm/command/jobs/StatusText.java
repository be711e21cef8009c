package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.run.status.RunRow;
import java.util.List;
import java.util.function.Function;

/** Formats the rows of {@code status}. */
public final class StatusText {
  private static final Columns<RunRow> COLUMNS =
      new Columns<RunRow>()
          .text("run_id", RunRow::runId)
          .as("RUN")
          .text("user", RunRow::user)
          .rare()
          .text("name", RunRow::name)
          .rare()
          .text("stage", RunRow::stage)
          .text("status", row -> row.status().text())
          .state("state", RunRow::state)
          .number("tasks", row -> row.tasks().all())
          .number("tasks_done", row -> row.tasks().done())
          .as("DONE")
          .number("tasks_failed", row -> row.tasks().failed())
          .as("FAILED")
          .number("tasks_cancelled", row -> row.tasks().cancelled())
          .as("CANCELLED")
          .number("tasks_running", row -> row.tasks().running())
          .as("RUNNING")
          .text("job_id", RunRow::jobId)
          .as("JOB")
          .seconds("elapsed_seconds", RunRow::elapsed)
          .money("cost", row -> row.spent().cost())
          .text("currency", row -> row.spent().cost().currency())
          .money("cost_so_far", row -> row.spent().soFar())
          .as("SO FAR")
          .rare()
          .text("cost_lacks", row -> row.spent().lacks())
          .rare()
          .note("note", RunRow::note);

  private StatusText() {}

  /** Returns the table, or a sentence if there are no rows. */
  public static String of(List<RunRow> rows, TableStyle style) {
    return of(rows, row -> row.spent().cost().toString(), style);
  }

  /** Returns the table with a run's cost as the function formats it. */
  static String of(List<RunRow> rows, Function<RunRow, String> cost, TableStyle style) {
    if (rows.isEmpty()) {
      return "No unfinished runs. `nexa-slurm runs list` shows the others.\n";
    }
    Listing<RunRow> whole =
        COLUMNS
            .select("user", "run_id", "name", "job_id", "state", "tasks_done", "tasks_failed")
            .and(COLUMNS.select("tasks_cancelled", "tasks_running", "tasks", "elapsed_seconds"))
            .and(new Columns<RunRow>().text("cost", cost::apply).right())
            .and(COLUMNS.select("cost_so_far", "cost_lacks", "note"))
            .of(forPeople(rows))
            .withoutRare();
    return whole.fits(style) ? whole.table(style) : narrow(rows, style);
  }

  /** Returns a table with the counts of tasks in one column, and one for money. */
  private static String narrow(List<RunRow> rows, TableStyle style) {
    return COLUMNS
        .select("user", "run_id", "name", "job_id", "state")
        .and(new Columns<RunRow>().text("tasks", StatusText::progress).as("DONE"))
        .and(COLUMNS.select("elapsed_seconds"))
        .and(new Columns<RunRow>().money("cost", row -> row.spent().now()).as("SO FAR"))
        .and(COLUMNS.select("cost_lacks", "note"))
        .of(forPeople(rows))
        .withoutRare()
        .table(style);
  }

  /** Returns {@code 10/64, 1 failed}. */
  private static String progress(RunRow row) {
    int cancelled = row.tasks().cancelled();
    return row.tasks().progress() + (cancelled > 0 ? ", " + cancelled + " cancelled" : "");
  }

  private static List<RunRow> forPeople(List<RunRow> rows) {
    return rows.stream().map(row -> row.forPeople()).toList();
  }

  /** Returns the document that {@code --json} prints. */
  public static JsonObject json(List<RunRow> rows) {
    return JsonObject.ofVersion(1).with("runs", COLUMNS.of(rows).json());
  }
}
