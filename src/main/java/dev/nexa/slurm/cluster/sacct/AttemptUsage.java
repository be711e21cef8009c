package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.ResizedPart;
import dev.nexa.slurm.cluster.scheduler.Tres;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The resources of one attempt of a job. A null component is unknown.
 *
 * @param submit when the attempt was queued
 * @param start when it began; of a part after a resize, when the job was resized
 * @param end when it ended
 * @param elapsedSeconds seconds as sacct counts them, without suspended time; of a part after a
 *     resize, without the parts before it
 * @param limitSeconds the time limit in seconds; unknown if there is none
 * @param state the state as sacct names it
 * @param nodes the node list, as printed
 * @param cpus allocated CPUs
 * @param gpus allocated GPUs by type, with GPUs without a type under {@code gpu}; empty for none
 */
public record AttemptUsage(
    @Nullable Instant submit,
    @Nullable Instant start,
    @Nullable Instant end,
    @Nullable Long elapsedSeconds,
    @Nullable Long limitSeconds,
    @Nullable String state,
    @Nullable String nodes,
    @Nullable Long cpus,
    @Nullable Map<String, Long> gpus) {

  /**
   * Returns an attempt.
   *
   * @param before the row of the same id before it; null for the first one
   */
  static AttemptUsage of(JobRow row, @Nullable JobRow before) {
    long repeated = repeated(row, before);
    JobRow.Times times = row.times();
    Instant start = time(times.start());
    Long elapsed = known(times.elapsed());
    return new AttemptUsage(
        time(times.submit()),
        start == null ? null : start.plusSeconds(repeated),
        time(times.end()),
        elapsed == null ? null : Long.valueOf(Math.max(0, elapsed - repeated)),
        known(times.limit()),
        row.state(),
        row.nodes(),
        known(row.allocated().cpus()),
        row.allocated().gpus());
  }

  /**
   * Returns the seconds of the row that are of earlier parts of a resized job. A dump can lack the
   * row RESIZING, its state, or a time. No attempt began before it was queued.
   */
  private static long repeated(JobRow row, @Nullable JobRow before) {
    JobRow.Times times = row.times();
    boolean started = times.start() != JobRow.UNKNOWN;
    if (!started && (times.end() == JobRow.UNKNOWN || times.elapsed() == JobRow.UNKNOWN)) {
      return 0;
    }
    long start = started ? seconds(times.start()) : seconds(times.end()) - times.elapsed();
    long endBefore = before != null && before.mayBeResized() ? seconds(before.times().end()) : 0;
    return ResizedPart.repeated(start, seconds(times.submit()), endBefore);
  }

  /** Returns epoch seconds; 0 if they are unknown. */
  private static long seconds(int time) {
    return time == JobRow.UNKNOWN ? 0 : Integer.toUnsignedLong(time);
  }

  private static @Nullable Instant time(int seconds) {
    return seconds == JobRow.UNKNOWN ? null : Instant.ofEpochSecond(seconds(seconds));
  }

  private static @Nullable Long known(int number) {
    return number == JobRow.UNKNOWN ? null : Long.valueOf(number);
  }

  /** Returns CPUs times elapsed seconds; null if either is unknown. */
  @Nullable Long cpuSeconds() {
    return cpus == null || elapsedSeconds == null ? null : cpus * elapsedSeconds;
  }

  /** Returns GPUs times elapsed seconds; null if either is unknown. */
  @Nullable Long gpuSeconds() {
    return gpus == null || elapsedSeconds == null ? null : Tres.sum(gpus) * elapsedSeconds;
  }

  JsonObject toJson() {
    JsonObject types = null;
    if (gpus != null) {
      types = new JsonObject();
      new TreeMap<>(gpus).forEach(types::with);
    }
    return new JsonObject()
        .with("submit", submit)
        .with("start", start)
        .with("end", end)
        .with("elapsed_seconds", elapsedSeconds)
        .with("state", state)
        .with("nodes", nodes)
        .with("cpus", cpus)
        .with("gpus", types);
  }
}
