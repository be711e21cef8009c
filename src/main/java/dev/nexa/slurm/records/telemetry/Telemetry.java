package dev.nexa.slurm.records.telemetry;

import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The samples of a whole run, summed up.
 *
 * @param summary empty if no file has a sample
 * @param gpuUtilization for each task, the share of the time that its GPUs worked in its newest
 *     attempt, from 0 to 1
 * @param energy the energy of each attempt's GPUs, by {@link #attempt}
 */
public record Telemetry(
    Optional<TelemetrySummary> summary,
    Map<Integer, BigDecimal> gpuUtilization,
    Map<String, Energy> energy) {
  /** A run without samples. */
  public static final Telemetry NONE = new Telemetry(Optional.empty(), Map.of(), Map.of());

  /**
   * The energy of an attempt's GPUs, from their power.
   *
   * @param gpuSeconds the time while power was sampled, added up over all GPUs
   */
  public record Energy(double joules, double gpuSeconds) {
    private Energy with(Energy other) {
      return new Energy(joules + other.joules, gpuSeconds + other.gpuSeconds);
    }
  }

  /**
   * Returns the name of an attempt.
   *
   * @param submission the submission's key
   * @param restart the number of the attempt, from 0
   */
  public static String attempt(String submission, long task, int restart) {
    return submission + "/" + task + "/" + restart;
  }

  private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);
  private static final int DECIMALS = 4;

  /** Reads one task: an element for each attempt and node, the oldest attempt first. */
  public static List<NodeTelemetry> read(RunFolder run, int task) {
    return TelemetryFile.of(run, RunState.of(run.journal().read()), task).stream()
        .flatMap(file -> file.read().stream())
        .toList();
  }

  /** Sums up all tasks of a run; one file at a time is in memory. */
  public static Telemetry of(RunFolder run, RunState journal) {
    TelemetrySummary.Sum sum = new TelemetrySummary.Sum();
    Map<Integer, Attempt> attempts = new TreeMap<>();
    Map<String, Energy> energy = new TreeMap<>();
    for (TelemetryFile file : TelemetryFile.of(run, journal)) {
      Optional<NodeTelemetry> node = file.read();
      if (node.isPresent() && node.get().before().isPresent()) {
        sum.add(node.get());
        attempts.merge(file.task(), Attempt.of(node.get()), Attempt::with);
        String attempt = attempt(file.submission(), file.task(), file.restart());
        node.get().series().stream()
            .filter(series -> series.measure() == Measure.GPU_POWER)
            .map(series -> series.spread())
            .map(watts -> new Energy(watts.integral(), watts.millis() / 1000.0))
            .forEach(used -> energy.merge(attempt, used, Energy::with));
      }
    }
    Map<Integer, BigDecimal> utilization = new TreeMap<>();
    attempts.forEach(
        (task, attempt) ->
            attempt.utilization.mean().ifPresent(mean -> utilization.put(task, share(mean))));
    return new Telemetry(sum.summary(), utilization, energy);
  }

  private static BigDecimal share(double percent) {
    return BigDecimal.valueOf(percent)
        .divide(HUNDRED, DECIMALS, RoundingMode.HALF_UP)
        .min(BigDecimal.ONE);
  }

  /** The GPUs of one attempt, on all its nodes. */
  private record Attempt(String name, Spread utilization) {
    static Attempt of(NodeTelemetry node) {
      Spread all = new Spread(Measure.Unit.PERCENT);
      node.series().stream()
          .filter(series -> series.measure() == Measure.GPU_UTILIZATION)
          .forEach(series -> all.add(series.spread()));
      return new Attempt(node.file().submission() + "." + node.file().restart(), all);
    }

    /** The later file counts alone if it is of a later attempt. */
    Attempt with(Attempt later) {
      if (name.equals(later.name)) {
        utilization.add(later.utilization);
        return this;
      }
      return later.utilization.isEmpty() ? this : later;
    }
  }
}
