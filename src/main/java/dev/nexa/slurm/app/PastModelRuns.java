package dev.nexa.slurm.app;

import dev.nexa.slurm.costs.FinishedRuns;
import dev.nexa.slurm.costs.RunLine;
import dev.nexa.slurm.estimate.analytic.Mfu.PastRun;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.Workspace;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finished runs whose estimate says how many FLOPs they needed: what calibrates the next one. */
final class PastModelRuns {
  /** The newest tell most, and each is a file to open. */
  private static final int MOST = 50;

  private PastModelRuns() {}

  /** Completed runs of that stage on that type of GPU, newest first. */
  static List<PastRun> alike(Nexa nexa, String stage, String gpuType) {
    Workspace workspace = nexa.workspace();
    List<PastRun> alike = new ArrayList<>();
    List<String> seen = new ArrayList<>();
    new FinishedRuns(workspace)
        .forEach(
            line -> {
              if (seen.size() < MOST && isAlike(line, stage, gpuType)) {
                seen.add(line.runId());
                Optional<PastRun> past = read(workspace, line);
                past.ifPresent(alike::add);
              }
            });
    return alike;
  }

  private static boolean isAlike(RunLine line, String stage, String gpuType) {
    Long seconds = line.gpuSeconds();
    return stage.equals(line.stage())
        && gpuType.equals(line.gpuType())
        && "completed".equals(line.status())
        && seconds != null
        && seconds > 0;
  }

  private static Optional<PastRun> read(Workspace workspace, RunLine line) {
    Optional<RunId> id = RunId.parse(line.runId());
    if (id.isEmpty() || !Files.isRegularFile(workspace.run(id.get()).estimate())) {
      return Optional.empty();
    }
    JsonObject estimate = workspace.run(id.get()).estimateJson();
    Optional<JsonObject> analytic = estimate.optionalObject("analytic");
    Long seconds = line.gpuSeconds();
    if (analytic.isEmpty() || seconds == null) {
      return Optional.empty();
    }
    double flops = new BigDecimal(analytic.get().text("flops")).doubleValue();
    double peak = new BigDecimal(analytic.get().text("peak_flops")).doubleValue();
    return Optional.of(new PastRun(flops, seconds, peak));
  }
}
