package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.server.Registration;
import dev.nexa.slurm.run.serving.AwaitServer;
import dev.nexa.slurm.run.status.AwaitRun;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Implements {@code pipeline run --wait}: makes passes until nothing more will happen. */
public final class AwaitPipeline {
  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private final Context context;
  private final Duration patience;
  private final AwaitServer servers;
  private final Map<String, String> last = new HashMap<>();
  private final Set<String> said = new HashSet<>();

  public AwaitPipeline(Context context) {
    this(context, AwaitRun.PATIENCE);
  }

  AwaitPipeline(Context context, Duration patience) {
    this.context = context;
    this.patience = patience;
    this.servers = new AwaitServer(context);
  }

  /**
   * Waits until every run has ended, until nothing runs and a stage is blocked, or until only
   * servers run, and each takes requests.
   *
   * @param progress receives a line when a stage's state changes
   * @param stages receives the stages that have ended
   * @throws NexaException if no stage has changed for 10 minutes, and the pipeline cannot go on
   *     because a stage's state is unknown, or because accounting does not settle it
   */
  public PipelineProgress await(
      PipelineFolder folder, Consumer<String> progress, Progress.Running stages) {
    long ended = 0;
    Duration pause = FIRST;
    Instant since = Instant.now();
    while (true) {
      boolean changed = false;
      try {
        PipelineProgress now = pass(folder, progress);
        changed = tell(now, progress);
        // A rerun takes a stage back.
        stages.done(now.endedStages() - ended, 0);
        ended = now.endedStages();
        if ((now.rests() || onlyServes(now, progress))
            && new AdvancePipelines(context).isSettled(now)) {
          return now;
        }
        since = changed ? Instant.now() : since;
        if (since.plus(patience).isBefore(Instant.now())) {
          requireKnown(now);
        }
      } catch (SchedulerUnavailable outage) {
        progress.accept(String.valueOf(outage.getMessage()));
        since = Instant.now();
      }
      pause = AwaitRun.sleep(changed ? FIRST : pause, LONGEST);
    }
  }

  /** Returns whether only servers have not ended, and each takes requests. */
  private boolean onlyServes(PipelineProgress now, Consumer<String> progress) {
    List<String> ready = new ArrayList<>();
    for (PipelineProgress.StageProgress stage : now.stages()) {
      RunFolder run = context.workspace().run(stage.stage().run());
      if (!stage.ended()) {
        Optional<Registration> server = stage.serves() ? servers.ready(run) : Optional.empty();
        if (server.isEmpty()) {
          return false;
        }
        String stop = "; `nexa-slurm serve stop " + run.id() + "` ends it";
        ready.add(stage.stage().name() + ": ready at " + server.get().endpoint() + stop);
      }
    }
    ready.stream().filter(said::add).forEach(progress);
    return !ready.isEmpty();
  }

  private void requireKnown(PipelineProgress now) {
    if (!now.unknown().isEmpty()) {
      PipelineProgress.StageProgress stage = now.unknown().get(0);
      throw AwaitRun.unknown(stage.stage().run(), stage.stage().name() + ": " + stage.why());
    }
    for (PipelineProgress.StageProgress stage : now.stages()) {
      RunFolder run = context.workspace().run(stage.stage().run());
      if (now.rests() && stage.ended() && run.isOpen()) {
        throw AwaitRun.notSettled(run, ManifestFile.read(run));
      }
    }
  }

  private PipelineProgress pass(PipelineFolder folder, Consumer<String> progress) {
    List<RunId> open =
        PipelineFile.read(folder).ownRuns().stream().filter(context.workspace()::isOpen).toList();
    List<String> problems =
        new ArrayList<>(AwaitRun.problems(new ReconcileRuns(context).reconcile(open)));
    PipelineProgress now = new AdvancePipelines(context).advance(folder, problems).orElseThrow();
    problems.stream().filter(said::add).forEach(progress);
    return now;
  }

  private boolean tell(PipelineProgress now, Consumer<String> progress) {
    boolean changed = false;
    for (PipelineProgress.StageProgress stage : now.stages()) {
      String name = stage.stage().name();
      String state = stage.state();
      boolean waits = state.equals(RunOutcome.PENDING);
      if (!waits && !stage.stage().reused() && !state.equals(last.put(name, state))) {
        boolean tells = stage.isBlocked() && !stage.why().isEmpty();
        progress.accept(name + ": " + state + (tells ? ", because " + stage.why() : ""));
        changed = true;
      }
    }
    return changed;
  }
}
