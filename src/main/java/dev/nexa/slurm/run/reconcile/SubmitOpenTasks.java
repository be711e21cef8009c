package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Submission.Phase;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.submit.CrashPoint;
import dev.nexa.slurm.run.submit.Interruption;
import dev.nexa.slurm.run.submit.SubmitTasks;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Submits the tasks of a run that no job holds: lost tasks, and tasks without a submission. */
record SubmitOpenTasks(
    Workspace workspace, Scheduler scheduler, Policy policy, Consumer<CrashPoint> passing) {
  /**
   * The result of a call.
   *
   * @param submitted whether a submission was made
   * @param waits whether tasks wait for a submission that cannot be made yet
   */
  record Result(boolean submitted, boolean waits) {}

  /** Submits lost tasks and tasks that no submission holds yet. */
  Result submit(
      RunFolder run,
      ProvenFiles files,
      RunFacts facts,
      RunState state,
      TaskEvidence evidence,
      List<String> problems) {
    SubmitTasks submit = new SubmitTasks(scheduler, passing, new Interruption());
    boolean unsettled = false;
    boolean submitted = false;
    boolean waits = false;
    List<Submission> round = state.sinceRerun();
    for (int i = 0; i < round.size(); i++) {
      Submission submission = round.get(i);
      unsettled |= submission.unresolved();
      boolean lost =
          submission.phase() == Phase.CLOSED
              && !madeAgain(submission, round.subList(i + 1, round.size()));
      if (lost && mayRetry(submission, state, evidence)) {
        Optional<String> dependency = dependency(run, state, Optional.of(submission), problems);
        if (dependency.isEmpty()) {
          waits = true;
          continue;
        }
        passing.accept(CrashPoint.SUBMISSION_CLOSED);
        submit.again(run, facts.work().array(), submission, dependency.get(), files);
        problems.add(run.id() + ": " + submission.message() + "; submitted again");
        submitted = true;
      }
    }
    // The next link needs the job id of a submission that was just made again; the next pass has
    // it.
    IndexRange open = state.unsubmitted(facts.tasks(), facts.work().array().chain());
    if (submitted || unsettled || open.indices().isEmpty()) {
      return new Result(submitted, waits);
    }
    Optional<String> dependency = dependency(run, state, Optional.empty(), problems);
    if (dependency.isEmpty()) {
      return new Result(false, true);
    }
    boolean any =
        !submit.rest(run, facts.work().array(), state, open, dependency.get(), files).isEmpty();
    return new Result(any, waits);
  }

  /**
   * Returns what a submission must wait for now; empty if that is not known yet, or if it can never
   * be met.
   *
   * @param lost the submission that is made again; empty for tasks that have none yet
   */
  private Optional<String> dependency(
      RunFolder run, RunState state, Optional<Submission> lost, List<String> problems) {
    List<Submission> made = state.submissions();
    boolean rerun = state.submissionsBefore() > 0 && state.pipeline().isEmpty();
    boolean isLaterLink = lost.filter(link -> !link.link().equals("0")).isPresent();
    if (rerun || state.after().isEmpty() || isLaterLink) {
      boolean first = lost.isEmpty() && made.size() > state.submissionsBefore();
      return lost.map(Submission::dependency)
          .or(() -> Optional.of(first ? made.get(state.submissionsBefore()).dependency() : ""));
    }
    EarlierJobs.Answer answer =
        new EarlierJobs(workspace, scheduler, Optional.empty()).of(state.after());
    if (answer instanceof EarlierJobs.Waits waits) {
      return Optional.of(waits.dependency());
    }
    if (answer instanceof EarlierJobs.Never never) {
      problems.add(run.id() + " cannot start: " + never.reason());
    }
    return Optional.empty();
  }

  static boolean madeAgain(Submission lost, List<Submission> later) {
    return later.stream().anyMatch(submission -> isSame(submission, lost));
  }

  /** Returns whether two submissions hold the same tasks as the same link of a chain. */
  private static boolean isSame(Submission one, Submission other) {
    return one.tasks().equals(other.tasks()) && one.link().equals(other.link());
  }

  /**
   * Returns whether the policy allows to submit the tasks again.
   *
   * <p>Without accounting, a job with an id that never began may have been cancelled by its owner,
   * so it is not repeated.
   */
  private boolean mayRetry(Submission lost, RunState state, TaskEvidence evidence) {
    long closed =
        state.submissions().stream()
            .filter(one -> isSame(one, lost) && one.phase() == Phase.CLOSED)
            .count();
    boolean known = evidence.accountingKept() || lost.jobId().isEmpty();
    return known && !state.cancelRequested() && closed <= policy.repeats().maxResubmits();
  }
}
