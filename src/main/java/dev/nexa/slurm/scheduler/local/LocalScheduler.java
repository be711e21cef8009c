package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.process.ProcessIdentity;
import dev.nexa.slurm.scheduler.AccountingQuery;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.scheduler.SubmitRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * This machine as a scheduler: the very script that sbatch would get, with Slurm's variables,
 * limits, signals, states and accounting rows. Each job has a detached process that runs it; any
 * call sees to a job that lost its own.
 */
public final class LocalScheduler implements Scheduler {
  /** The cluster's name in accounting. */
  public static final String CLUSTER = "local";

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final StateDirectory state;
  private final Supervisors supervisors;
  private final Submissions submissions;
  private final LocalAccounting accounting;

  /**
   * A scheduler with Slurm's default settings.
   *
   * @param stateDir where it keeps its state; a relative path is taken from here
   * @param javaCommand how to start our own classes: {@code java -cp nexa-slurm.jar}
   * @param environment what jobs inherit, from {@link
   *     dev.nexa.slurm.scheduler.ClientEnvironment#forJobs}
   */
  public LocalScheduler(Path stateDir, List<String> javaCommand, Map<String, String> environment) {
    this(stateDir, javaCommand, environment, LocalSettings.DEFAULT);
  }

  /** The same with other settings. */
  public LocalScheduler(
      Path stateDir,
      List<String> javaCommand,
      Map<String, String> environment,
      LocalSettings settings) {
    this.state = new StateDirectory(stateDir.toAbsolutePath());
    this.supervisors = new Supervisors(state, javaCommand, environment);
    this.submissions = new Submissions(environment, settings);
    this.accounting = new LocalAccounting(state, supervisors);
  }

  @Override
  public String name() {
    return "local";
  }

  @Override
  public SubmitAnswer submit(SubmitRequest request, Consumer<ProcessIdentity> started) {
    byte[] script;
    Submission submission;
    try {
      script = Submissions.read(request.script());
      submission = submissions.check(request, script);
    } catch (Refusal refusal) {
      return new SubmitAnswer.Refused(refusal.text());
    }
    JobDirectory job = state.claimJob();
    job.prepare(script);
    state.markOpen(job);
    job.commit(submission);
    try {
      started.accept(supervisors.start(job));
    } catch (IOException failed) {
      // The job is there, pending, and any later call starts it.
      return new SubmitAnswer.Submitted(job.id(), CLUSTER);
    }
    return new SubmitAnswer.Submitted(job.id(), CLUSTER);
  }

  @Override
  public List<QueueEntry> queue() {
    List<QueueEntry> entries = new ArrayList<>();
    for (JobDirectory directory : state.openJobs()) {
      supervisors.see(directory);
      Job job = directory.job();
      entries.addAll(QueueView.entries(job, directory.history(job)));
    }
    return entries;
  }

  @Override
  public void accounting(AccountingQuery query, Consumer<AccountingRecord> rows) {
    accounting.answer(query, rows);
  }

  @Override
  public void cancel(String key, long jobId, OptionalInt task) {
    if (!state.has(jobId)) {
      return;
    }
    JobDirectory directory = state.job(jobId);
    Job job = directory.job();
    if (job.name().equals(key) && directory.history(job).open()) {
      ask(directory, Request.Kind.CANCEL, task);
    }
  }

  @Override
  public void requeue(long jobId, int task) {
    if (!state.has(jobId)) {
      throw refused("Invalid job id specified for job " + jobId);
    }
    JobDirectory directory = state.job(jobId);
    Job job = directory.job();
    History history = directory.history(job);
    if (!history.has(task)) {
      throw refused(jobId + "_" + task + ": Invalid job id specified");
    }
    if (!job.requeue()) {
      throw refused("Requested operation is presently disabled for job " + job.taskId(task));
    }
    if (history.last(task).pending()) {
      throw refused("Job is pending execution for job " + job.taskId(task));
    }
    ask(directory, Request.Kind.REQUEUE, OptionalInt.of(task));
  }

  private static SchedulerUnavailable refused(String why) {
    return new SchedulerUnavailable("requeue failed: " + why);
  }

  /** Leaves a request and waits a moment until it is done: a supervisor may first have to start. */
  private void ask(JobDirectory directory, Request.Kind kind, OptionalInt task) {
    Request request = Request.leave(directory, kind, task);
    state.markOpen(directory);
    supervisors.see(directory);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!request.isDone() && System.nanoTime() - deadline < 0) {
      try {
        Thread.sleep(10);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  @Override
  public boolean keepsAccounting() {
    return true;
  }
}
