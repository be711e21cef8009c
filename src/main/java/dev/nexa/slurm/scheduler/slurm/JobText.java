package dev.nexa.slurm.scheduler.slurm;

import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.RememberedJob;
import dev.nexa.slurm.units.IndexRange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads {@code scontrol --oneliner --details show job}: a line a task, {@code Key=value} between
 * blanks, times as epoch seconds. Up to 22.05 what was allocated stands under {@code TRES}, since
 * 23.02 under {@code AllocTRES}; GPUs that no slurmdbd lets slurmctld track stand under {@code
 * JOB_GRES}. Pure.
 */
public final class JobText {
  private static final String NONE = "(null)";

  private JobText() {}

  /** The tasks; a line of pending tasks that were never split tells of none. */
  public static List<RememberedJob> read(String text) {
    List<RememberedJob> jobs = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      Map<String, String> values = new HashMap<>();
      for (String word : line.strip().split(" +", -1)) {
        int equals = word.indexOf('=');
        if (equals > 0) {
          // A comment, which may say anything, comes after all that is read.
          values.putIfAbsent(word.substring(0, equals), word.substring(equals + 1));
        }
      }
      if (isNumber(values.getOrDefault("JobId", ""))
          && isNumber(values.getOrDefault("ArrayTaskId", "0"))) {
        jobs.add(job(values));
      }
    }
    return jobs;
  }

  private static RememberedJob job(Map<String, String> values) {
    long id = Long.parseLong(values.getOrDefault("JobId", "0"));
    String state = values.getOrDefault("JobState", "");
    Optional<Instant> start = time(values, "StartTime");
    Optional<Instant> end = time(values, "EndTime");
    String nodes = known(values, "NodeList");
    boolean ran = !nodes.isEmpty() && start.isPresent();
    String tres = tres(values);
    return new RememberedJob(
        new AccountingRecord(
            "",
            values.containsKey("ArrayJobId") ? Long.parseLong(values.get("ArrayJobId")) : id,
            id,
            IndexRange.of(Integer.parseInt(values.getOrDefault("ArrayTaskId", "0"))),
            user(known(values, "UserId")),
            known(values, "Account"),
            known(values, "Partition"),
            JobState.parse(state),
            state,
            known(values, "ExitCode"),
            time(values, "SubmitTime").orElse(Instant.EPOCH),
            ran ? start : Optional.empty(),
            end,
            ran ? seconds(known(values, "RunTime")) : 0,
            nodes,
            ran && isNumber(known(values, "NumNodes"))
                ? Integer.parseInt(known(values, "NumNodes"))
                : 0,
            ran ? tres : "",
            tres,
            known(values, "Reason"),
            values.getOrDefault("JobName", ""),
            AccountingRecord.Witness.CONTROLLER),
        isNumber(known(values, "Restarts")) ? Integer.parseInt(known(values, "Restarts")) : 0);
  }

  /** {@code ada(1000)}. */
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
                all.append(",gres/gpu")
                    .append(type.isEmpty() ? "" : ":" + type)
                    .append('=')
                    .append(count));
    return all.toString();
  }

  private static String known(Map<String, String> values, String key) {
    String value = values.getOrDefault(key, "");
    return value.equals(NONE) ? "" : value;
  }

  private static Optional<Instant> time(Map<String, String> values, String key) {
    String text = values.getOrDefault(key, "");
    return isNumber(text)
        ? Optional.of(Instant.ofEpochSecond(Long.parseLong(text)))
        : Optional.empty();
  }

  /** {@code [D-]HH:MM:SS}; suspended time is not in it. */
  private static long seconds(String text) {
    int dash = text.indexOf('-');
    long seconds = 0;
    for (String part : text.substring(dash + 1).split(":", -1)) {
      seconds = 60 * seconds + (isNumber(part) ? Long.parseLong(part) : 0);
    }
    String days = dash < 0 ? "0" : text.substring(0, dash);
    return seconds + (isNumber(days) ? 86_400 * Long.parseLong(days) : 0);
  }

  private static boolean isNumber(String text) {
    return !text.isEmpty()
        && text.length() < 16
        && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }
}
