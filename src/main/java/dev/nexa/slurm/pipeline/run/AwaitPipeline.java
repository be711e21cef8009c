package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.AwaitRun;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Implements {@code pipeline run --wait}: makes passes until nothing more will happen. */
public final class AwaitPipeline {
  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private final Context context;
  private final Map<String, String> last = new HashMap<>();
  private final Set<String> said = new HashSet<>();

  public AwaitPipeline(Context context) {
    this.context = context;
  }

  /**
   * Waits until every run has ended, or until nothing runs and a stage is blocked.
   *
   * @param progress receives a line when a stage's state changes
   * @param stages receives the stages that have ended
   */
  public PipelineProgress await(
      PipelineFolder folder, Consumer<String> progress, Progress.Running stages) {
    long ended = 0;
    Duration pause = FIRST;
    while (true) {
      boolean changed = false;
      try {
        PipelineProgress now = pass(folder, progress);
        changed = tell(now, progress);
        // A rerun takes a stage back.
        stages.done(now.endedStages() - ended, 0);
        ended = now.endedStages();
        if (now.rests() && new AdvancePipelines(context).isSettled(now)) {
          return now;
        }
      } catch (SchedulerUnavailable outage) {
        progress.accept(String.valueOf(outage.getMessage()));
      }
      Duration longer = pause.multipliedBy(3).dividedBy(2);
      pause = changed ? FIRST : longer.compareTo(LONGEST) > 0 ? LONGEST : longer;
      AwaitRun.sleep(pause);
    }
  }

  private PipelineProgress pass(PipelineFolder folder, Consumer<String> progress) {
    List<RunId> open =
        PipelineFile.read(folder).ownRuns().stream()
            .filter(run -> context.workspace().isOpen(run))
            .toList();
    List<String> problems = new ArrayList<>();
    ReconcileRuns.Pass pass = new ReconcileRuns(context).reconcile(open);
    if (!pass.broken().isEmpty()) {
      throw new NexaException(
          ErrorCode.RECORD_DAMAGED,
          String.join("\n", pass.problems()),
          Advice.command("", "nexa-slurm", "explain", "docs/recovery.md"));
    }
    problems.addAll(pass.problems());
    PipelineProgress now = new AdvancePipelines(context).advance(folder, problems).orElseThrow();
    problems.stream().filter(said::add).forEach(progress);
    return now;
  }

  private boolean tell(PipelineProgress now, Consumer<String> progress) {
    boolean changed = false;
    for (PipelineProgress.StageProgress stage : now.stages()) {
      String name = stage.stage().name();
      String state = stage.state();
      boolean waits = state.equals("pending");
      if (!waits && !stage.stage().reused() && !state.equals(last.put(name, state))) {
        boolean tells = state.equals(PipelineProgress.BLOCKED) && !stage.why().isEmpty();
        progress.accept(name + ": " + state + (tells ? ", because " + stage.why() : ""));
        changed = true;
      }
    }
    return changed;
  }
}
