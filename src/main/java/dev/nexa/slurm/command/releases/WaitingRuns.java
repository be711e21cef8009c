package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.job.config.Policy;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the runs that a halt does not stop: they were submitted before it, wait in the queue, and
 * bring a model to users when they start. Waiting stages of pipelines are not among them, because
 * {@code reconcile} cancels them.
 */
final class WaitingRuns {
  private final Context context;
  private final Policy policy;
  private final Map<String, Optional<List<QueueEntry>>> queues = new HashMap<>();

  WaitingRuns(Context context, Policy policy) {
    this.context = context;
    this.policy = policy;
  }

  /**
   * Returns the runs. If a queue cannot be read, its runs count as waiting.
   *
   * @param problems gets a sentence for each queue and each run that cannot be read
   */
  List<RunId> find(List<String> problems) {
    List<RunId> waiting = new ArrayList<>();
    for (RunId id : context.workspace().openRuns()) {
      try {
        if (mayStart(context.workspace().run(id), problems)) {
          waiting.add(id);
        }
      } catch (RuntimeException unreadable) {
        problems.add(id + " cannot be read: " + unreadable.getMessage());
      }
    }
    return waiting;
  }

  private boolean mayStart(RunFolder run, List<String> problems) {
    PlanFile plan = ProvenFiles.of(run).plan();
    if (!RequireNoHalt.concerns(policy, plan.stage())
        || RunState.of(run.journal().read()).pipeline().isPresent()) {
      return false;
    }
    return queues
        .computeIfAbsent(RunLookup.scheduler(run), name -> queue(name, problems))
        .map(
            queue ->
                queue.stream()
                    .anyMatch(
                        entry ->
                            entry.state() == JobState.PENDING
                                && entry.name().startsWith(run.id() + ".")))
        .orElse(true);
  }

  private Optional<List<QueueEntry>> queue(String scheduler, List<String> problems) {
    try {
      return Optional.of(context.scheduler(scheduler).queue());
    } catch (SchedulerUnavailable outage) {
      problems.add("the queue cannot be read: " + outage.getMessage());
      return Optional.empty();
    }
  }
}
