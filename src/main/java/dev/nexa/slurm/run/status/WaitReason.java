package dev.nexa.slurm.run.status;

import dev.nexa.slurm.cluster.scheduler.PendingReason;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Says why a run waits, and names the runs and the command that belong to the reason. Pure. */
public final class WaitReason {
  private WaitReason() {}

  /**
   * Returns the reason as a clause without a full stop.
   *
   * @param run the id of the run that waits
   * @param states what is known of the runs that it waits for, by their ids, such as {@code job
   *     465, cancelled}; a run may be missing
   */
  public static String sentence(
      String run, RunState journal, QueueEntry entry, Map<String, String> states) {
    String sentence = PendingReason.sentence(entry.reason());
    List<Earlier> after = journal.after();
    return switch (entry.reason()) {
      case "Dependency" ->
          after.isEmpty() ? sentence : sentence + ": " + names(after, ", ", states);
      case "DependencyNeverSatisfied" ->
          (after.isEmpty()
                  ? sentence
                  : "will never start: it waits for "
                      + names(after, " and ", states)
                      + ", which did not end as needed")
              + "; "
              + why(after, states)
              + wayOut(run, journal);
      case "JobHeldUser" -> "held; `scontrol release " + entry.arrayJobId() + "` lets it go";
      default -> sentence;
    };
  }

  /** Returns the command that explains the earlier run that ended badly; empty for a job. */
  private static String why(List<Earlier> after, Map<String, String> states) {
    return after.stream()
        .filter(one -> one.run().isPresent())
        .filter(one -> !states.getOrDefault(one.reference(), "").endsWith("completed"))
        .findFirst()
        .map(one -> "`nexa-slurm why " + one.reference() + "` says why, ")
        .orElse("");
  }

  /**
   * Returns the command for a run that waits in vain, and what the command does. In a pipeline, the
   * stage that failed is run again; a cancelled stage would end the pipeline.
   */
  private static String wayOut(String run, RunState journal) {
    return journal.pipeline().isPresent()
        ? "`nexa-slurm pipeline resume " + journal.pipeline().get() + "` runs again what failed"
        : "`nexa-slurm cancel " + run + "` removes it";
  }

  /** Returns the earlier runs, each with the condition: {@code afterok of train_… (cancelled)}. */
  private static String names(List<Earlier> after, String separator, Map<String, String> states) {
    List<String> names = new ArrayList<>();
    for (Earlier one : after) {
      String state = states.getOrDefault(one.reference(), "");
      names.add(one.type() + " of " + one.name() + (state.isEmpty() ? "" : " (" + state + ")"));
    }
    return String.join(separator, names);
  }
}
