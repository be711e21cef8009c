package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.json.JsonObject;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The resources of one attempt of a job. A null component is unknown.
 *
 * @param submit when the attempt was queued
 * @param start when it began
 * @param end when it ended
 * @param elapsedSeconds seconds as sacct counts them, without suspended time
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
    @Nullable String state,
    @Nullable String nodes,
    @Nullable Long cpus,
    @Nullable Map<String, Long> gpus) {

  static AttemptUsage of(JobRow row) {
    return new AttemptUsage(
        time(row.submit()),
        time(row.start()),
        time(row.end()),
        known(row.elapsed()),
        row.state(),
        row.nodes(),
        known(row.cpus()),
        row.gpus());
  }

  private static @Nullable Instant time(int seconds) {
    return seconds == JobRow.UNKNOWN
        ? null
        : Instant.ofEpochSecond(Integer.toUnsignedLong(seconds));
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
    return gpus == null || elapsedSeconds == null ? null : Gpus.sum(gpus) * elapsedSeconds;
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
