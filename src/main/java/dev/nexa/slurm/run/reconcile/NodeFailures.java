package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.HostList;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.submit.BadNodes;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Remembers the nodes of a run that failed, and keeps its waiting tasks off them. */
record NodeFailures(Scheduler scheduler) {
  private static final Pattern UNFIT = Pattern.compile("\\d+\\.\\d+\\.unfit\\.(.+)");

  /** Another run that holds the scratch folder is no fault of the node. */
  private static final String HELD = "belongs to another run";

  void remember(
      RunFolder run, PlanFile plan, RunState state, RunOutcome outcome, List<String> problems) {
    BadNodes bad = new BadNodes(run.badNodes().resolve(plan.cluster()));
    boolean failed = false;
    for (AccountingRecord row : outcome.attempts()) {
      failed |= row.state() != JobState.COMPLETED;
      // Of several nodes accounting does not say which one failed.
      if (row.state() == JobState.NODE_FAIL && row.nodeCount() == 1) {
        HostList.names(row.nodes())
            .forEach(
                node -> bad.remember(node, "it failed under " + run.id(), row.end().orElseThrow()));
      }
    }
    if (plan.backend().filter(Plan.DIAG::equals).isPresent()) {
      for (Submission submission : state.submissions()) {
        for (Path file : results(run, submission, "*.fit.*")) {
          String node = file.getFileName().toString().replaceFirst("^\\d+\\.\\d+\\.fit\\.", "");
          bad.forget(node, DurableFiles.written(file));
        }
      }
    }
    for (Submission submission : failed ? state.submissions() : List.<Submission>of()) {
      for (Path file : results(run, submission, "*.unfit.*")) {
        Matcher name = UNFIT.matcher(file.getFileName().toString());
        if (name.matches()) {
          String reason = DurableFiles.readRegular(file, 10_000).strip();
          if (!reason.contains(HELD)) {
            String why = "the check of " + run.id() + " said: " + reason;
            bad.remember(name.group(1), why, DurableFiles.written(file));
          }
        }
      }
    }
    for (TaskOutcome task : outcome.tasks()) {
      Submission newest = state.newest().get(task.task());
      if (newest != null && task.waitsAgain() && lastEnd(task) == JobState.NODE_FAIL) {
        keepOff(run, plan, newest, task, problems);
      }
    }
  }

  private static List<Path> results(RunFolder run, Submission submission, String names) {
    return DurableFiles.list(run.submission(submission.key()).resolve("results"), names);
  }

  private static JobState lastEnd(TaskOutcome task) {
    JobState last = JobState.PENDING;
    for (AccountingRecord attempt : task.attempts()) {
      last = attempt.ended() ? attempt.state() : last;
    }
    return last;
  }

  private void keepOff(
      RunFolder run,
      PlanFile plan,
      Submission submission,
      TaskOutcome task,
      List<String> problems) {
    try {
      String nodes = BadNodes.exclude(run.badNodes(), plan, scheduler);
      if (!nodes.isEmpty()) {
        boolean groups = !plan.groups().isEmpty();
        OptionalInt index = groups ? OptionalInt.empty() : submission.index(task.task());
        scheduler.keepOff(submission.jobId().orElseThrow(), index, nodes);
      }
    } catch (SchedulerUnavailable refused) {
      problems.add(run.id() + " may get the node again that failed: " + refused.getMessage());
    }
  }
}
