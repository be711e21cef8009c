package dev.nexa.slurm.usage;

import dev.nexa.slurm.files.JsonObject;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One attempt; null is unknown.
 *
 * @param elapsedSeconds sacct's own figure, suspended time not counted
 * @param state as sacct names it
 * @param nodes the node list, as printed
 * @param gpus by type, those without one under {@code gpu}; empty where there were none
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

  /** CPUs times elapsed. */
  @Nullable Long cpuSeconds() {
    return cpus == null || elapsedSeconds == null ? null : cpus * elapsedSeconds;
  }

  /** GPUs times elapsed. */
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
