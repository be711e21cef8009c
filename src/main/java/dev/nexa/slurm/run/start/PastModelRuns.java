package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.model.Mfu.PastRun;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds finished runs whose estimate holds their FLOPs. They calibrate the next run's prediction.
 */
final class PastModelRuns {
  /** Each run costs one open file, and the newest runs are the most similar. */
  private static final int MOST = 50;

  private PastModelRuns() {}

  /** Returns completed runs of this stage on this GPU type, newest first. */
  static List<PastRun> alike(Context context, String stage, String gpuType) {
    Workspace workspace = context.workspace();
    List<PastRun> alike = new ArrayList<>();
    List<String> seen = new ArrayList<>();
    new FinishedRuns(workspace)
        .forEach(
            line -> {
              if (seen.size() < MOST && isAlike(line, stage, gpuType)) {
                seen.add(line.runId());
                read(workspace, line).ifPresent(alike::add);
              }
            });
    return alike;
  }

  private static boolean isAlike(LedgerLine line, String stage, String gpuType) {
    Long seconds = line.gpuSeconds();
    return stage.equals(line.stage())
        && gpuType.equals(line.gpuType())
        && line.completed()
        && seconds != null
        && seconds > 0;
  }

  private static Optional<PastRun> read(Workspace workspace, LedgerLine line) {
    Optional<RunId> id = RunId.parse(line.runId());
    if (id.isEmpty() || !Files.isRegularFile(workspace.run(id.get()).estimate())) {
      return Optional.empty();
    }
    EstimateFile estimate;
    try {
      estimate = ProvenFiles.of(workspace.run(id.get())).estimate();
    } catch (NexaException | UncheckedIOException | IllegalArgumentException broken) {
      // A broken estimate does not calibrate; `audit` reports it.
      return Optional.empty();
    }
    Optional<Double> flops = estimate.flops();
    Long seconds = line.gpuSeconds();
    return flops.isEmpty() || seconds == null
        ? Optional.empty()
        : Optional.of(new PastRun(flops.get(), seconds, estimate.peakFlops().orElseThrow()));
  }
}
