package dev.nexa.slurm.insight.live;

import dev.nexa.slurm.pipeline.run.PipelineProgress;
import java.time.Instant;
import java.util.List;

/**
 * The runs, pipelines and budgets at one moment.
 *
 * @param at when the scheduler was asked
 * @param runs the runs: first those that run, then those that wait, then those that have ended
 * @param pipelines the unfinished pipelines
 * @param budgets the budgets that one of the runs counts for
 * @param problems a line for each record that cannot be read
 */
public record LiveSnapshot(
    Instant at,
    List<LiveRun> runs,
    List<PipelineProgress> pipelines,
    List<LiveBudget> budgets,
    List<String> problems) {

  /** Returns how many of the runs have not ended. */
  public long unfinished() {
    return runs.stream().filter(run -> !run.row().status().ended()).count();
  }

  /** Returns whether no run goes on, and none that waits can ever start. */
  public boolean rests() {
    return runs.stream().allMatch(run -> run.row().status().ended() || run.row().stuck());
  }
}
