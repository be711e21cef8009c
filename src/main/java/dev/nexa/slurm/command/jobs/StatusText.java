package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.run.reconcile.RunRow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Formats the rows of {@code status}. */
public final class StatusText {
  /**
   * An enum instead of lambdas: each lambda would make every status slower (docs/performance.md).
   */
  private enum Cell implements Function<RunRow, @Nullable Object> {
    RUN,
    USER,
    NAME,
    STAGE,
    STATUS,
    STATE,
    TASKS,
    DONE,
    FAILED,
    CANCELLED,
    RUNNING,
    JOB,
    ELAPSED,
    COST,
    CURRENCY,
    SO_FAR,
    LACKS,
    NOTE,
    PROGRESS,
    COST_NOW;

    @Override
    public @Nullable Object apply(RunRow row) {
      return switch (this) {
        case RUN -> row.runId();
        case USER -> row.user();
        case NAME -> row.name();
        case STAGE -> row.stage();
        case STATUS -> row.status().text();
        case STATE -> row.state();
        case TASKS -> row.tasks();
        case DONE -> row.done();
        case FAILED -> row.failed();
        case CANCELLED -> row.cancelled();
        case RUNNING -> row.running();
        case JOB -> row.jobId();
        case ELAPSED -> row.elapsed();
        case COST -> row.cost();
        case CURRENCY -> row.cost().currency();
        case SO_FAR -> row.soFar();
        case LACKS -> row.costLacks();
        case NOTE -> row.note();
        case PROGRESS -> progress(row);
        case COST_NOW -> row.soFar().orElse(row.cost());
      };
    }
  }

  private static final Columns<RunRow> COLUMNS =
      new Columns<RunRow>()
          .text("run_id", Cell.RUN)
          .as("RUN")
          .text("user", Cell.USER)
          .rare()
          .text("name", Cell.NAME)
          .rare()
          .text("stage", Cell.STAGE)
          .text("status", Cell.STATUS)
          .state("state", Cell.STATE)
          .number("tasks", Cell.TASKS)
          .number("tasks_done", Cell.DONE)
          .as("DONE")
          .number("tasks_failed", Cell.FAILED)
          .as("FAILED")
          .number("tasks_cancelled", Cell.CANCELLED)
          .as("CANCELLED")
          .number("tasks_running", Cell.RUNNING)
          .as("RUNNING")
          .text("job_id", Cell.JOB)
          .as("JOB")
          .seconds("elapsed_seconds", Cell.ELAPSED)
          .money("cost", Cell.COST)
          .text("currency", Cell.CURRENCY)
          .money("cost_so_far", Cell.SO_FAR)
          .as("SO FAR")
          .rare()
          .text("cost_lacks", Cell.LACKS)
          .rare()
          .note("note", Cell.NOTE);

  private StatusText() {}

  /** Returns the table, or a sentence if there are no rows. */
  public static String of(List<RunRow> rows, TableStyle style) {
    if (rows.isEmpty()) {
      return "No unfinished runs. `nexa-slurm runs list` shows the others.\n";
    }
    Listing<RunRow> whole =
        COLUMNS
            .select(
                "user",
                "run_id",
                "name",
                "job_id",
                "state",
                "tasks_done",
                "tasks_failed",
                "tasks_cancelled",
                "tasks_running",
                "tasks",
                "elapsed_seconds",
                "cost",
                "cost_so_far",
                "cost_lacks",
                "note")
            .of(forPeople(rows))
            .withoutRare();
    return whole.fits(style) ? whole.table(style) : narrow(rows, style);
  }

  /** Returns a table with the counts of tasks in one column, and one for money. */
  private static String narrow(List<RunRow> rows, TableStyle style) {
    return COLUMNS
        .select("user", "run_id", "name", "job_id", "state")
        .and(new Columns<RunRow>().text("tasks", Cell.PROGRESS).as("DONE"))
        .and(COLUMNS.select("elapsed_seconds"))
        .and(new Columns<RunRow>().money("cost", Cell.COST_NOW).as("SO FAR"))
        .and(COLUMNS.select("cost_lacks", "note"))
        .of(forPeople(rows))
        .withoutRare()
        .table(style);
  }

  /** Returns {@code 10/64, 1 failed}. */
  private static String progress(RunRow row) {
    return row.done()
        + "/"
        + row.tasks()
        + (row.failed() > 0 ? ", " + row.failed() + " failed" : "")
        + (row.cancelled() > 0 ? ", " + row.cancelled() + " cancelled" : "");
  }

  private static List<RunRow> forPeople(List<RunRow> rows) {
    List<RunRow> shown = new ArrayList<>();
    for (RunRow row : rows) {
      shown.add(row.forPeople());
    }
    return shown;
  }

  /** Returns the document that {@code --json} prints. */
  public static JsonObject json(List<RunRow> rows) {
    return new JsonObject().with("schema_version", 1).with("runs", COLUMNS.of(rows).json());
  }
}
