package dev.nexa.slurm.report;

import java.time.Duration;
import java.util.List;

/** The status table. */
public final class StatusText {
  private StatusText() {}

  public static String of(List<RunRow> rows) {
    if (rows.isEmpty()) {
      return "No unfinished runs. `nexa-slurm runs list` shows the others.\n";
    }
    Table table =
        new Table(
            "RUN",
            "JOB",
            "STATE",
            "DONE",
            "FAILED",
            "CANCELLED",
            "RUNNING",
            "TASKS",
            "ELAPSED",
            "COST",
            "NOTE");
    for (RunRow row : rows) {
      table.row(
          row.runId(),
          row.jobId().map(String::valueOf).orElse("-"),
          row.state(),
          row.done(),
          row.failed(),
          row.cancelled(),
          row.running(),
          row.tasks(),
          clock(row.elapsed()),
          row.cost(),
          row.note().replaceAll("\\s*\\R\\s*", "; "));
    }
    return table.toString();
  }

  /** {@code 1-02:03:04}, as Slurm prints it. */
  static String clock(Duration elapsed) {
    String days = elapsed.toDays() > 0 ? elapsed.toDays() + "-" : "";
    return days
        + String.format(
            "%02d:%02d:%02d",
            elapsed.toHoursPart(), elapsed.toMinutesPart(), elapsed.toSecondsPart());
  }
}
