package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileModes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A running attempt: its time limit, its warning signal and its end.
 *
 * <p>It follows slurmd ({@code _rpc_timelimit}, {@code _rpc_terminate_job} in Slurm's req.c): the
 * row is closed at once, all processes get SIGCONT and SIGTERM, and after KillWait SIGKILL. When
 * the script ends, the processes that it left are killed.
 */
final class RunningTask {
  private static final Duration KILL_AGAIN = Duration.ofSeconds(1);

  private final JobDirectory directory;
  private final JobHistory history;
  private final Job job;
  private final Attempt attempt;
  private final Path log;
  private final TaskProcess process;
  private final long began = System.nanoTime();
  private boolean stopped;
  private long killAt;
  private boolean warned;

  /**
   * Starts an attempt.
   *
   * @throws IOException if its log cannot be written, or no process can be started
   */
  RunningTask(JobDirectory directory, JobHistory history, Attempt attempt) throws IOException {
    this.directory = directory;
    this.history = history;
    this.job = history.job();
    this.attempt = attempt;
    this.log = job.output(attempt.task());
    openLog();
    String mark = directory.mark(attempt);
    Map<String, String> environment = TaskEnvironment.of(job, attempt);
    environment.put(TaskEnvironment.MARK, mark);
    environment.put(TaskEnvironment.AGAIN, directory.again(attempt).toAbsolutePath().toString());
    process = new TaskProcess(command(), job.submission(), environment, log, mark);
  }

  /** Creates the log, or empties the log of an earlier attempt, unless the job appends. */
  private void openLog() throws IOException {
    if (Files.notExists(log)) {
      FileModes.append(log, false).close();
    } else if (!job.append() && Files.isRegularFile(log)) {
      Files.newOutputStream(log, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)
          .close();
    }
  }

  /**
   * Returns the program of the script's first line, with one argument at most, and the script, as
   * execve(2) does. So a script on a file system mounted noexec also runs.
   */
  private List<String> command() {
    String first = DurableFiles.read(directory.script()).split("\n", 2)[0];
    List<String> command = new ArrayList<>(List.of(first.substring(2).strip().split("[ \t]+", 2)));
    command.add(directory.script().toString());
    command.addAll(job.submission().arguments());
    return command;
  }

  /** Checks the attempt and does what is due; false if the attempt is over. */
  boolean look(long now) {
    Optional<TaskProcess.ExitStatus> status = process.status();
    if (status.isPresent()) {
      finish(status.get(), now);
      return false;
    }
    if (stopped && System.nanoTime() - killAt >= 0) {
      process.signalAll("KILL");
      killAt = System.nanoTime() + KILL_AGAIN.toNanos();
    }
    if (!stopped && job.limit().isPresent()) {
      Duration limit = job.limit().get();
      warn(limit);
      if (passed().compareTo(limit) >= 0) {
        long end = attempt.start() + limit.toSeconds();
        stop(JobEvent.end(end, attempt.task(), "TIMEOUT", false), " DUE TO TIME LIMIT");
      }
    }
    return true;
  }

  /** Kills the attempt without recording its end. */
  void abandon() {
    process.destroy();
  }

  private void finish(TaskProcess.ExitStatus status, long now) {
    process.destroy();
    int task = attempt.task();
    JobEvent gone = JobEvent.gone(now, task);
    if (stopped) {
      directory.record(history, gone);
    } else if (job.requeue() && Files.exists(directory.again(attempt))) {
      directory.record(history, JobEvent.end(now, task, "REQUEUED", true), gone);
    } else {
      directory.record(history, JobEvent.end(now, task, status.state(), status.text()), gone);
    }
  }

  /**
   * Ends the attempt. Records the end first. Otherwise a successor would record NODE_FAIL if this
   * process dies.
   *
   * @param why why, in slurmstepd's words; empty for no reason
   */
  void stop(JobEvent end, String why) {
    directory.record(history, end);
    stopped = true;
    Duration killWait = Duration.ofMillis(job.submission().settings().killWaitMillis());
    killAt = System.nanoTime() + killWait.toNanos();
    say(why);
    process.signalAll("CONT");
    process.signalAll("TERM");
  }

  private void warn(Duration limit) {
    if (warned || job.warning().isEmpty()) {
      return;
    }
    Job.Warning warning = job.warning().get();
    if (passed().plus(warning.before()).compareTo(limit) >= 0) {
      warned = true;
      process.signalScript(warning.signal());
    }
  }

  /**
   * Writes slurmstepd's line into the log. Never throws, because a full disk must not end the
   * runner.
   */
  private void say(String why) {
    LocalDateTime at = LocalDateTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS);
    String line =
        "slurmstepd: error: *** JOB %d ON %s CANCELLED AT %s%s ***%n"
            .formatted(attempt.raw(), job.submission().host(), at, why);
    try {
      Files.writeString(log, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException failed) {
      System.err.print("could not write (" + failed + "): " + line);
    }
  }

  private Duration passed() {
    return Duration.ofNanos(System.nanoTime() - began);
  }
}
