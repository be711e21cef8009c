package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.error.Arguments;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.FileModes;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.process.Sleep;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;

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

  private static final List<String> PROGRAMS = List.of("setsid", "bash", "env", "sleep", "sh");
  private static final String DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

  /** Options for a process that mostly waits: a small heap, one compiler, no files in /tmp. */
  private static final List<String> FRUGAL =
      List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx256m");

  /** How long a cancellation or a requeue is waited for. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final long PAUSE_MILLIS = 10;

  /** Equal to the grace of our sacct call, for clocks that differ. */
  private static final Duration GRACE = Duration.ofDays(1);

  private final StateDirectory state;
  private final List<String> javaCommand;
  private final Map<String, String> environment;
  private final LocalSettings settings;

  /**
   * Creates a scheduler.
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
    this.javaCommand = List.copyOf(javaCommand);
    this.environment = Map.copyOf(environment);
    this.settings = settings;
  }

  @Override
  public String name() {
    return "local";
  }

  @Override
  public SubmitAnswer submit(SubmitRequest request, Consumer<ProcessIdentity> started) {
    JobDirectory job;
    LocalSubmission submission;
    try {
      requirePrograms();
      byte[] script = DurableFiles.readBytes(request.script());
      submission = LocalSubmission.of(request, environment, settings);
      check(submission, new String(script, StandardCharsets.UTF_8));
      job = state.claimJob();
      job.prepare(script);
      state.markOpen(job);
    } catch (IllegalArgumentException | UncheckedIOException refused) {
      return new SubmitAnswer.Refused("the local scheduler: " + refused.getMessage());
    }
    try {
      job.commit(submission);
    } catch (UncheckedIOException failed) {
      String message = "the local scheduler: " + failed.getMessage();
      return job.exists() ? new SubmitAnswer.Unknown(message) : new SubmitAnswer.Refused(message);
    }
    Optional<ProcessIdentity> runner = Optional.empty();
    try {
      runner = Optional.of(startRunner(job));
    } catch (UncheckedIOException failed) {
      // The job exists and is pending. The next call starts a runner.
      System.err.println("the local scheduler: " + failed.getMessage());
    }
    runner.ifPresent(started);
    return new SubmitAnswer.Submitted(job.id(), CLUSTER);
  }

  /**
   * Starts a job's runner in its own session, so that it outlives this process and its terminal.
   *
   * @throws UncheckedIOException if setsid(1) or Java cannot be started
   */
  private ProcessIdentity startRunner(JobDirectory job) {
    List<String> argv = new ArrayList<>(List.of("setsid"));
    argv.addAll(javaCommand);
    argv.addAll(FRUGAL);
    argv.addAll(List.of(JobRunner.class.getName(), job.path().toAbsolutePath().toString()));
    Path log = job.path().resolve("supervisor.log");
    ProcessBuilder builder = ProcessGroup.builder(argv, environment, log);
    // In the C locale, Java cannot open files whose names are not ASCII.
    builder.environment().put("LC_ALL", "C.UTF-8");
    Process process;
    try {
      FileModes.append(log, Files.exists(log)).close();
      process = builder.start();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot start a supervisor for job " + job.id(), failed);
    }
    DurableFiles.onDisk().replace(job.supervisor(), Liveness.line(process.pid()) + "\n");
    return ProcessIdentity.of(process.toHandle());
  }

  /**
   * Repairs a job whose runner died or never started, and starts another runner if there is work
   * left.
   */
  private void see(JobDirectory job) {
    Liveness liveness = new Liveness(job);
    if (liveness.runs(job.lock()) || liveness.runs(job.supervisor())) {
      return;
    }
    String us = Liveness.ourLine();
    try (FileLock held = FileLock.acquire(job.lock(), us, liveness::dead, Duration.ZERO)) {
      if (!held.holds() || liveness.runs(job.supervisor())) {
        return;
      }
      JobRunner.recover(job);
      if (!job.history().open() && JobRequest.of(job).isEmpty()) {
        state.markOver(job);
      } else {
        startRunner(job);
      }
    } catch (FileLock.LockedException taken) {
      // The process that holds the lock repairs the job.
    }
  }

  /** Checks the script and the submission before a file is written. */
  private void check(LocalSubmission submission, String script) {
    Arguments.require(
        script.startsWith("#!") && !script.contains("\r\n") && script.indexOf('\0') < 0,
        "a script begins with #! and an interpreter, and has no NUL and no DOS line ends");
    SbatchOptions.requireKnown(script);
    Job.of(0, submission, script);
    requireJobs(submission.dependency());
  }

  private void requireJobs(String dependency) {
    for (Dependency.Condition one : Dependency.parse(dependency).conditions()) {
      Arguments.require(state.isMine(one.job()), "there is no job " + one.job() + " to wait for");
    }
  }

  private void requirePrograms() {
    Arguments.require(
        Files.exists(Path.of("/proc/self/stat")), "it needs Linux: there is no /proc here");
    String path = environment.getOrDefault("PATH", DEFAULT_PATH);
    String[] folders = path.split(File.pathSeparator, -1);
    for (String program : PROGRAMS) {
      Arguments.require(
          Arrays.stream(folders).anyMatch(at -> Files.isExecutable(Path.of(at, program))),
          "it needs the program " + program + " in " + path);
    }
  }

  @Override
  public List<QueueEntry> queue() {
    return answer(
        () -> {
          List<QueueEntry> entries = new ArrayList<>();
          LongFunction<JobHistory> others = state.histories();
          for (JobDirectory job : state.openJobs()) {
            see(job);
            entries.addAll(job.history().queue(job.dependency(), others));
          }
          return entries;
        });
  }

  @Override
  public void accounting(AccountingQuery query, Consumer<AccountingRecord> rows) {
    answer(() -> rows(query)).forEach(rows);
  }

  private List<AccountingRecord> rows(AccountingQuery query) {
    List<AccountingRecord> rows = new ArrayList<>();
    long since = query.since().minus(GRACE).getEpochSecond();
    for (JobDirectory job : asked(query)) {
      if (state.isOpen(job)) {
        see(job);
      }
      rows.addAll(job.history().rows(since, Instant.now().getEpochSecond()));
    }
    return rows;
  }

  private List<JobDirectory> asked(AccountingQuery query) {
    if (query.names().isEmpty()) {
      return query.jobIds().stream().filter(state::isMine).map(state::job).toList();
    }
    return state.allJobs().stream()
        .filter(job -> query.names().contains(job.job().name()))
        .toList();
  }

  @Override
  public void cancel(String key, long jobId, OptionalInt task) {
    answer(
        () -> {
          JobDirectory job = state.job(jobId);
          return state.isMine(jobId)
              && job.job().name().equals(key)
              && job.history().open()
              && ask(job, JobRequest.CANCEL, task);
        });
  }

  @Override
  public boolean requeue(long jobId, OptionalInt task) {
    answer(
        () -> {
          JobHistory history = require(jobId).history();
          int index = task.orElse(history.job().tasks().indices().get(0));
          if (!history.has(index) || !history.job().requeue()) {
            throw failure("there is no task " + jobId + "_" + index + " that may run again");
          }
          return ask(state.job(jobId), JobRequest.REQUEUE, OptionalInt.of(index));
        });
    return true;
  }

  /** Changes what a job's waiting tasks wait for. The job's runner reads it again. */
  @Override
  public void dependOn(long jobId, String dependency) {
    answer(
        () -> {
          requireJobs(dependency);
          require(jobId).waitFor(dependency);
          return true;
        });
  }

  private JobDirectory require(long jobId) {
    if (!state.isMine(jobId)) {
      throw failure("there is no job " + jobId);
    }
    return state.job(jobId);
  }

  /** Writes a request and waits a moment for its end; whether it ended. */
  private boolean ask(JobDirectory job, String action, OptionalInt task) {
    JobRequest request = JobRequest.leave(job, action, task);
    state.markOpen(job);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!request.isDone() && System.nanoTime() - deadline < 0) {
      // Checked in each round, because a runner that lived a moment ago may have been about to end.
      see(job);
      Sleep.millis(PAUSE_MILLIS, "waiting for a job");
    }
    return request.isDone();
  }

  /** Returns an answer. State that cannot be read means that the scheduler does not answer. */
  private static <T> T answer(Supplier<T> question) {
    try {
      return question.get();
    } catch (UncheckedIOException | IllegalArgumentException failed) {
      throw failure(String.valueOf(failed.getMessage()));
    }
  }

  private static SchedulerUnavailable failure(String why) {
    return new SchedulerUnavailable(
        ErrorCode.LOCAL_SCHEDULER_FAILED, "the local scheduler: " + why);
  }
}
