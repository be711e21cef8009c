package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The resources that a job used. A null component is unknown. A total is the sum of its known
 * parts.
 *
 * @param subject the job, task, range of tasks or component
 * @param rawJobId Slurm's own id of the task or component
 * @param names each name from the last row that has it
 * @param state the state of the last attempt
 * @param exitCode {@code exit:signal} of the last attempt, as printed
 * @param attempts the attempts, oldest first; never empty
 * @param time the time of all attempts
 * @param maxRssBytes memory of the largest task of any step
 * @param memoryBytes allocated memory, from the last row that has it
 * @param energyJoules consumed energy of all attempts
 * @param efficiency how much of what was allocated was used
 * @param unknownFields columns that no Slurm from 20.11 to 26.05 has, by name
 */
public record JobUsage(
    UsageId subject,
    @Nullable Long rawJobId,
    JobNames names,
    @Nullable String state,
    @Nullable String exitCode,
    List<AttemptUsage> attempts,
    Time time,
    @Nullable Long maxRssBytes,
    @Nullable Long memoryBytes,
    @Nullable Long energyJoules,
    Efficiency efficiency,
    @Nullable Map<String, String> unknownFields) {

  /**
   * Sums over all attempts.
   *
   * @param elapsedSeconds elapsed seconds
   * @param cpuSeconds allocated CPU-seconds
   * @param gpuSeconds allocated GPU-seconds
   * @param cpuUsedMicros CPU time used, in microseconds
   */
  public record Time(
      @Nullable Long elapsedSeconds,
      @Nullable Long cpuSeconds,
      @Nullable Long gpuSeconds,
      @Nullable Long cpuUsedMicros) {}

  /**
   * Shares of what was allocated, 0 to 1.
   *
   * @param cpu used CPU time divided by the allocated CPU-seconds of ended attempts
   * @param memory the largest memory of one step divided by the allocated memory
   * @param gpu GPU time used divided by the allocated GPU-seconds, if Slurm measures it
   */
  public record Efficiency(
      @Nullable BigDecimal cpu, @Nullable BigDecimal memory, @Nullable BigDecimal gpu) {}

  /**
   * Adds up one job.
   *
   * @param earlier the row before them that has the same id; null if there is none
   * @param rows the attempts, oldest first; at least one
   * @param steps the steps of each attempt, in the order of {@code rows}
   */
  static JobUsage of(@Nullable JobRow earlier, List<JobRow> rows, List<List<StepRow>> steps) {
    JobRow last = rows.get(rows.size() - 1);
    List<AttemptUsage> attempts = new ArrayList<>(rows.size());
    List<StepRow> all = new ArrayList<>();
    Long energy = null;
    CpuTime used = new CpuTime();
    CpuTime usedOfEnded = new CpuTime();
    long heldByEnded = 0;
    for (int i = 0; i < rows.size(); i++) {
      JobRow row = rows.get(i);
      AttemptUsage attempt = AttemptUsage.of(row, i == 0 ? earlier : rows.get(i - 1));
      attempts.add(attempt);
      all.addAll(steps.get(i));
      energy = plus(energy, row.energy());
      used.add(row, steps.get(i));
      Long cpuSeconds = attempt.cpuSeconds();
      boolean told = row.cpuMicros() > 0 || sum(steps.get(i), StepRow::cpuMicros) != null;
      if (row.ended() && told && cpuSeconds != null) {
        usedOfEnded.add(row, steps.get(i));
        heldByEnded += cpuSeconds * 1_000_000;
      }
    }
    Long ofEnded = usedOfEnded.micros();
    Long gpuSeconds = total(attempts, AttemptUsage::gpuSeconds);
    JobNames names = last.names();
    long held = JobRow.UNKNOWN;
    for (int i = rows.size() - 1; i >= 0; i--) {
      names = names.orElse(rows.get(i).names());
      held = held < 0 ? rows.get(i).allocated().memory() : held;
    }
    Long memory = held < 0 ? null : Long.valueOf(held);
    Long peak = most(all, StepRow::peak);
    Long busy = sum(all, StepRow::gpuBusyMillis);
    return new JobUsage(
        last.id(),
        last.rawId() == JobRow.UNKNOWN ? null : Long.valueOf(Integer.toUnsignedLong(last.rawId())),
        names,
        last.state(),
        last.exitCode(),
        List.copyOf(attempts),
        new Time(
            total(attempts, AttemptUsage::elapsedSeconds),
            total(attempts, AttemptUsage::cpuSeconds),
            gpuSeconds,
            used.micros()),
        most(all, StepRow::maxRss),
        memory,
        energy,
        new Efficiency(
            heldByEnded == 0 || ofEnded == null ? null : share(ofEnded, heldByEnded),
            peak == null || memory == null || memory == 0 ? null : share(peak, memory),
            busy == null || gpuSeconds == null || gpuSeconds == 0
                ? null
                : share(busy, gpuSeconds * 1000)),
        last.other());
  }

  /**
   * Adds up the CPU time of attempts. sacct prints it twice: a job's own TotalCPU is the sum of its
   * steps. With {@code -X} and in the JSON of 22.05 the job's own value is 0, and then the steps
   * count. Sums are whole milliseconds, which is what sacct's tables print.
   */
  private static final class CpuTime {
    private long own;
    private @Nullable Long ofSteps;

    void add(JobRow row, List<StepRow> steps) {
      own += Math.max(0, row.cpuMicros());
      Long sum = sum(steps, StepRow::cpuMicros);
      ofSteps = sum == null ? ofSteps : plus(ofSteps, sum / 1000 * 1000);
    }

    @Nullable Long micros() {
      return own <= 0
          ? ofSteps
          : Long.valueOf(Math.max(own, ofSteps == null ? 0 : ofSteps) / 1000 * 1000);
    }
  }

  private static @Nullable Long plus(@Nullable Long sum, long figure) {
    return figure < 0 ? sum : Long.valueOf(sum == null ? figure : sum + figure);
  }

  private static @Nullable Long sum(List<StepRow> steps, Function<StepRow, Long> figure) {
    Long sum = null;
    for (StepRow step : steps) {
      sum = plus(sum, figure.apply(step));
    }
    return sum;
  }

  private static @Nullable Long most(List<StepRow> steps, Function<StepRow, Long> figure) {
    long most = JobRow.UNKNOWN;
    for (StepRow step : steps) {
      most = Math.max(most, figure.apply(step));
    }
    return most < 0 ? null : Long.valueOf(most);
  }

  private static @Nullable Long total(
      List<AttemptUsage> attempts, Function<AttemptUsage, @Nullable Long> figure) {
    Long sum = null;
    for (AttemptUsage attempt : attempts) {
      Long value = figure.apply(attempt);
      sum = value == null ? sum : plus(sum, value);
    }
    return sum;
  }

  private static BigDecimal share(long part, long whole) {
    return BigDecimal.valueOf(part).divide(BigDecimal.valueOf(whole), 4, RoundingMode.HALF_EVEN);
  }

  /**
   * Returns whether the job had not ended before that time. A job with an unknown end counts as
   * active.
   */
  public boolean activeSince(Instant since) {
    Instant end = attempts.get(attempts.size() - 1).end();
    return end == null || !end.isBefore(since);
  }

  /**
   * Returns the id as sacct prints it: {@code 123}, {@code 123_4}, {@code 123_[7-99]}, {@code
   * 123+1}.
   */
  public String id() {
    return subject.toString();
  }

  /** Returns the job's entry in {@code usage --json}. */
  public JsonObject toJson() {
    Long cpuUsed = time.cpuUsedMicros();
    JsonObject job =
        new JsonObject()
            .with("cluster", subject.cluster())
            .with("job_id", subject.job())
            .with("array_task", known(subject.task()))
            .with("array_tasks", subject.tasks())
            .with("het_offset", known(subject.het()))
            .with("raw_job_id", rawJobId)
            .with("name", names.name())
            .with("user", names.user())
            .with("account", names.account())
            .with("state", state)
            .with("exit_code", exitCode)
            .with("attempts", attempts.stream().map(AttemptUsage::toJson).toList())
            .with("elapsed_seconds", time.elapsedSeconds())
            .with("cpu_seconds", time.cpuSeconds())
            .with("gpu_seconds", time.gpuSeconds())
            .with(
                "cpu_used_seconds", cpuUsed == null ? null : BigDecimal.valueOf(cpuUsed / 1000, 3))
            .with("cpu_efficiency", efficiency.cpu())
            .with("max_rss_bytes", maxRssBytes)
            .with("memory_bytes", memoryBytes)
            .with("memory_efficiency", efficiency.memory())
            .with("energy_joules", energyJoules)
            .with("gpu_utilisation", efficiency.gpu());
    if (unknownFields != null) {
      JsonObject fields = new JsonObject();
      unknownFields.forEach(fields::with);
      job.with("unknown_fields", fields);
    }
    return job;
  }

  private static @Nullable Integer known(int index) {
    return index == UsageId.NONE ? null : Integer.valueOf(index);
  }
}
