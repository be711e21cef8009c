package dev.nexa.slurm.insight.live;

import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.telemetry.Measure;
import dev.nexa.slurm.records.telemetry.NodeTelemetry;
import dev.nexa.slurm.records.telemetry.TelemetryFile;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** How busy the GPUs of a running run are, by the newest samples. */
final class GpuUse {
  /** A sampler writes at least each half minute; an older sample is of a task that has ended. */
  private static final Duration NEW = Duration.ofMinutes(2);

  /** How many files are read: tasks start in order, so the last files are of running tasks. */
  private static final int MOST_FILES = 16;

  private GpuUse() {}

  /** Returns the mean utilization in percent; empty if nothing new was sampled. */
  static Optional<Integer> of(RunFolder run, Instant now) {
    List<TelemetryFile> files = TelemetryFile.of(run, RunState.of(run.journal().read()));
    double sum = 0;
    int values = 0;
    for (TelemetryFile file : files.subList(Math.max(0, files.size() - MOST_FILES), files.size())) {
      Optional<NodeTelemetry.Sample> sample = file.newest();
      if (sample.isEmpty() || sample.get().at().isBefore(now.minus(NEW))) {
        continue;
      }
      for (NodeTelemetry.Sample.Value value : sample.get().values()) {
        if (value.measure() == Measure.GPU_UTILIZATION) {
          sum += value.value();
          values++;
        }
      }
    }
    return values == 0 ? Optional.empty() : Optional.of((int) Math.round(sum / values));
  }
}
