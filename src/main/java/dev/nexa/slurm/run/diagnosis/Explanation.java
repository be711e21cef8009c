package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.records.runs.RunId;
import java.util.List;
import java.util.Optional;

/**
 * Why a run failed, or why it waits.
 *
 * @param config the config's path, as it was typed
 * @param state the run's state in detail, in lower case
 * @param failure why a task failed; empty if none did
 * @param refusals what the scheduler answered when it refused a submission; mostly empty
 * @param doubts a sentence for each task that ended in an unknown way
 * @param waiting why tasks wait; empty if none does
 * @param similar earlier runs that failed in the same way, newest first
 * @param since what has changed since the last run of the same config that went well; empty if
 *     nothing has, or it is not known
 * @param use notes on how well the run used its GPUs and memory; empty if nothing was sampled
 * @param indices how the indices of tasks ended that run several; empty if each task is one
 */
public record Explanation(
    RunId run,
    String config,
    String state,
    Optional<Failure> failure,
    List<String> refusals,
    List<String> doubts,
    Optional<Waiting> waiting,
    List<Similar> similar,
    Optional<String> since,
    List<String> use,
    Optional<String> indices) {

  /**
   * An earlier run that failed in the same way.
   *
   * @param text the line of its log that shows it
   */
  public record Similar(RunId run, String text) {}

  /** Returns the explanation in one sentence; empty if nothing failed and nothing waits. */
  public Optional<String> headline() {
    return failure
        .map(Failure::sentence)
        .or(() -> refusals.stream().findFirst())
        .or(() -> waiting.map(Waiting::sentence));
  }
}
