package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.sacct.Durations;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.JobState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads {@code scontrol --oneliner --details show job}: one line for each task, {@code Key=value}
 * pairs separated by blanks, times as epoch seconds.
 *
 * <p>Allocated resources are under {@code TRES} up to 22.05 and under {@code AllocTRES} since
 * 23.02. If Slurm does not track GPUs as TRES, they are under {@code JOB_GRES}. Pure.
 */
public final class JobText {
  private static final String NONE = "(null)";

  private JobText() {}

  /**
   * Returns the tasks, in the order of the lines. A line that does not name exactly one task is
   * left out. Such lines are for pending tasks that Slurm has not split, and for an array that was
   * cancelled before it had tasks (its ArrayTaskId is 4294967294).
   */
  public static List<ControllerJob> read(String text) {
    List<ControllerJob> jobs = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      // The first value counts: Comment, which may hold any text, comes after every key read here.
      Map<String, String> values = PrintedValue.pairs(line);
      Optional<Long> id = PrintedValue.id(values.getOrDefault("JobId", ""));
      String component = values.getOrDefault("HetJobOffset", "0");
      IndexRange task = PrintedValue.tasks(values.getOrDefault("ArrayTaskId", component));
      if (id.isPresent() && task.indices().size() == 1) {
        jobs.add(job(id.get(), task, values));
      }
    }
    return jobs;
  }

  private static ControllerJob job(long id, IndexRange task, Map<String, String> values) {
    String state = values.getOrDefault("JobState", "");
    Optional<Instant> start = time(values, "StartTime");
    Optional<Instant> end = time(values, "EndTime");
    String nodes = known(values, "NodeList");
    boolean ran = !nodes.isEmpty() && start.isPresent();
    String tres = tres(values);
    return new ControllerJob(
        new AccountingRecord(
            new AccountingRecord.JobIds(
                "",
                PrintedValue.id(values.getOrDefault("ArrayJobId", ""))
                    .or(() -> PrintedValue.id(values.getOrDefault("HetJobId", "")))
                    .orElse(id),
                id,
                task,
                values.getOrDefault("JobName", "")),
            new AccountingRecord.Association(
                user(known(values, "UserId")),
                known(values, "Account"),
                known(values, "Partition")),
            new AccountingRecord.Status(
                JobState.parse(state), state, known(values, "ExitCode"), known(values, "Reason")),
            new AccountingRecord.Times(
                time(values, "SubmitTime").orElse(Instant.EPOCH),
                ran ? start : Optional.empty(),
                end,
                ran ? Math.max(0, Durations.millis(known(values, "RunTime")) / 1000) : 0),
            new AccountingRecord.Allocated(
                nodes,
                ran ? PrintedValue.count(known(values, "NumNodes")).orElse(0) : 0,
                ran ? tres : "",
                tres),
            AccountingRecord.Witness.CONTROLLER,
            AccountingRecord.More.NONE),
        PrintedValue.count(known(values, "Restarts")).orElse(0));
  }

  /** Removes the user id from {@code ada(1000)}. */
  private static String user(String text) {
    int bracket = text.indexOf('(');
    return bracket < 0 ? text : text.substring(0, bracket);
  }

  private static String tres(Map<String, String> values) {
    String tres = known(values, values.containsKey("AllocTRES") ? "AllocTRES" : "TRES");
    if (tres.isEmpty() || tres.contains("gres/gpu")) {
      return tres;
    }
    StringBuilder all = new StringBuilder(tres);
    GresText.gpus(known(values, "JOB_GRES"))
        .forEach(
            (type, count) ->
                all.append(type.isEmpty() ? ",gres/gpu=" : ",gres/gpu:" + type + "=")
                    .append(count));
    return all.toString();
  }

  private static String known(Map<String, String> values, String key) {
    String value = values.getOrDefault(key, "");
    return value.equals(NONE) ? "" : value;
  }

  private static Optional<Instant> time(Map<String, String> values, String key) {
    return PrintedValue.time(values.getOrDefault(key, ""));
  }
}
