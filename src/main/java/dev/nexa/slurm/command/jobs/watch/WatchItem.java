package dev.nexa.slurm.command.jobs.watch;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.insight.live.LiveRun;
import dev.nexa.slurm.insight.live.LiveSnapshot;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One line of the list: a run, a pipeline, or a run of a pipeline below it.
 *
 * @param id the id of the run or pipeline
 * @param run the run; empty for a pipeline
 * @param pipeline the pipeline; empty for a run
 * @param stage the run's stage in its pipeline; empty for other runs and for a pipeline
 */
record WatchItem(
    String id,
    Optional<LiveRun> run,
    Optional<PipelineProgress> pipeline,
    Optional<PipelineProgress.StageProgress> stage) {

  /**
   * Returns the lines of the list: each unfinished pipeline with its runs, then other runs, then
   * pipelines that have ended.
   */
  static List<WatchItem> of(LiveSnapshot snapshot) {
    Map<RunId, LiveRun> left = new HashMap<>();
    snapshot.runs().forEach(run -> left.put(run.id(), run));
    List<WatchItem> items = new ArrayList<>();
    pipelines(snapshot, false, left, items);
    List<WatchItem> ended = new ArrayList<>();
    pipelines(snapshot, true, left, ended);
    snapshot.runs().stream()
        .filter(run -> left.containsKey(run.id()))
        .forEach(run -> items.add(of(run, Optional.empty())));
    items.addAll(ended);
    return items;
  }

  private static WatchItem of(LiveRun run, Optional<PipelineProgress.StageProgress> stage) {
    return new WatchItem(run.id().value(), Optional.of(run), Optional.empty(), stage);
  }

  private static void pipelines(
      LiveSnapshot snapshot, boolean ended, Map<RunId, LiveRun> left, List<WatchItem> items) {
    for (PipelineProgress pipeline : snapshot.pipelines()) {
      if (pipeline.ended() != ended) {
        continue;
      }
      items.add(
          new WatchItem(
              pipeline.file().id(), Optional.empty(), Optional.of(pipeline), Optional.empty()));
      for (PipelineProgress.StageProgress stage : pipeline.stages()) {
        LiveRun run = left.remove(stage.stage().run());
        if (run != null) {
          items.add(of(run, Optional.of(stage)));
        }
      }
    }
  }

  /** Returns the name that the user gave, or the stage's name in its pipeline; may be empty. */
  String name() {
    return pipeline
        .map(one -> one.file().name())
        .or(() -> stage.map(one -> one.stage().name()))
        .or(() -> run.flatMap(one -> one.row().name()))
        .orElse("");
  }

  /** Returns the state in the words for people. */
  String state() {
    if (run.isPresent() && stage.isPresent() && !run.get().row().status().ended()) {
      String state = stage.get().state();
      return state.equals(RunOutcome.PENDING) ? run.get().row().forPeople().state() : state;
    }
    return run.map(one -> one.row().forPeople().state())
        .or(() -> pipeline.map(one -> one.state().text()))
        .orElse("");
  }

  /** Returns {@code 12/64, 1 failed} for tasks, and {@code 2/5 stages} for a pipeline. */
  String progress() {
    return run.map(one -> one.row().tasks().progress())
        .or(() -> pipeline.map(one -> one.completed() + "/" + one.stages().size() + " stages"))
        .orElse("");
  }

  /** Returns the elapsed time. It goes on after the snapshot if the run has running tasks. */
  String elapsed(Duration since) {
    return run.map(LiveRun::row)
        .map(row -> row.tasks().running() > 0 ? row.elapsed().plus(since) : row.elapsed())
        .map(TimeLimit::clock)
        .orElse("");
  }

  /** Returns how busy the GPUs are, such as {@code 87 %}; empty if that is not sampled. */
  String gpu() {
    return run.flatMap(LiveRun::gpuPercent).map(percent -> percent + " %").orElse("");
  }

  /** Returns the cost until now, without the currency. */
  String cost() {
    return money(run.map(LiveRun::cost).or(() -> pipeline.map(PipelineProgress::cost)));
  }

  /** Returns the most that it can cost, without the currency; empty if that is not known. */
  String most() {
    return money(run.isPresent() ? run.get().reserved() : pipeline.map(one -> one.file().total()));
  }

  private static String money(Optional<Money> amount) {
    return amount.map(money -> money.rounded().cell(money.amount())).orElse("");
  }
}
