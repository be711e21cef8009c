package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
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
 * Runs jobs on this machine. It takes the script that sbatch would get, and provides Slurm's
 * variables, limits, signals, states and accounting rows.
 *
 * <p>Each job has a detached process that runs it. If that process died, the next call starts
 * another.
 */
public final class LocalScheduler implements Scheduler {
  /** The cluster's name in accounting. */
  public static final String CLUSTER = "local";

  private final StateDirectory state;
  private final RunnerStarter supervisors;
  private final SubmissionCheck submissions;
  private final LocalAccounting accounting;
  private final LocalControl control;

  /**
   * Creates a scheduler with Slurm's default settings.
   *
   * @param stateDir the folder of its state; a relative path is resolved against the working
   *     directory
   * @param javaCommand the command that starts our classes: {@code java -cp nexa-slurm.jar}
   * @param environment the variables that jobs inherit, from {@link
   *     dev.nexa.slurm.cluster.scheduler.ClientEnvironment#forJobs}
   */
  public LocalScheduler(Path stateDir, List<String> javaCommand, Map<String, String> environment) {
    this(stateDir, javaCommand, environment, LocalSettings.DEFAULT);
  }

  /**
   * Creates a scheduler with other settings.
   *
   * @param stateDir the folder of its state; a relative path is resolved against the working
   *     directory
   * @param javaCommand the command that starts our classes: {@code java -cp nexa-slurm.jar}
   * @param environment the variables that jobs inherit, from {@link
   *     dev.nexa.slurm.cluster.scheduler.ClientEnvironment#forJobs}
   * @param settings time limits
   */
  public LocalScheduler(
      Path stateDir,
      List<String> javaCommand,
      Map<String, String> environment,
      LocalSettings settings) {
    this.state = new StateDirectory(stateDir.toAbsolutePath());
    this.supervisors = new RunnerStarter(state, javaCommand, environment);
    this.submissions = new SubmissionCheck(state, environment, settings);
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
    LocalSubmission submission;
    try {
      script = SubmissionCheck.read(request.script());
      submission = submissions.check(request, script);
    } catch (SbatchRefusal refusal) {
      return new SubmitAnswer.Refused(refusal.text());
    }
    return submit(script, submission, started);
  }

  private SubmitAnswer submit(
      byte[] script, LocalSubmission submission, Consumer<ProcessIdentity> started) {
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
      // The job exists and is pending. The next call starts a runner.
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
            // As squeue --me. Another user's job.json holds that user's environment.
            if (directory.isOfAnotherUser()) {
              continue;
            }
            supervisors.see(directory);
            Job job = directory.job();
            DependencyCheck dependency = new DependencyCheck(state, directory);
            entries.addAll(directory.history(job).queue(job, dependency));
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

  @Override
  public void dependOn(long jobId, String dependency) {
    asked(() -> control.dependOn(jobId, dependency));
  }

  /** Runs a call. State that cannot be read means that the scheduler does not answer. */
  private static void asked(Runnable question) {
    try {
      question.run();
    } catch (UncheckedIOException failed) {
      throw new SchedulerUnavailable(
          ErrorCode.LOCAL_SCHEDULER_FAILED, "the local scheduler: " + failed.getMessage());
    }
  }

  @Override
  public boolean keepsAccounting() {
    return true;
  }
}
