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
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  private final StateDirectory state;
  private final Supervisors supervisors;
  private final Submissions submissions;
  private final LocalAccounting accounting;
  private final LocalControl control;

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
    this.control = new LocalControl(state, supervisors);
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
    return submit(script, submission, started);
  }

  private SubmitAnswer submit(
      byte[] script, Submission submission, Consumer<ProcessIdentity> started) {
    Optional<JobDirectory> claimed = Optional.empty();
    try {
      JobDirectory job = state.claimJob();
      claimed = Optional.of(job);
      job.prepare(script);
      state.markOpen(job);
      job.commit(submission);
    } catch (UncheckedIOException failed) {
      String message = "the local scheduler: " + failed.getMessage();
      boolean maybe = claimed.map(JobDirectory::exists).orElse(false);
      return maybe ? new SubmitAnswer.Unknown(message) : new SubmitAnswer.Refused(message);
    }
    JobDirectory job = claimed.get();
    try {
      started.accept(supervisors.start(job));
    } catch (IOException failed) {
      // The job is there, pending, and the next call tries again.
      System.err.println("the local scheduler could not start a supervisor: " + failed);
    }
    return new SubmitAnswer.Submitted(job.id(), CLUSTER);
  }

  @Override
  public List<QueueEntry> queue() {
    List<QueueEntry> entries = new ArrayList<>();
    asked(
        () -> {
          for (JobDirectory directory : state.openJobs()) {
            supervisors.see(directory);
            Job job = directory.job();
            entries.addAll(QueueView.entries(job, directory.history(job)));
          }
        });
    return entries;
  }

  @Override
  public void accounting(AccountingQuery query, Consumer<AccountingRecord> rows) {
    List<AccountingRecord> answer = new ArrayList<>();
    asked(() -> accounting.answer(query, answer::add));
    answer.forEach(rows);
  }

  @Override
  public void cancel(String key, long jobId, OptionalInt task) {
    asked(() -> control.cancel(key, jobId, task));
  }

  @Override
  public void requeue(long jobId, int task) {
    asked(() -> control.requeue(jobId, task));
  }

  /** A state that can't be read is a scheduler that can't be asked. */
  private static void asked(Runnable question) {
    try {
      question.run();
    } catch (UncheckedIOException failed) {
      throw new SchedulerUnavailable("the local scheduler: " + failed.getMessage());
    }
  }

  @Override
  public boolean keepsAccounting() {
    return true;
  }
}
