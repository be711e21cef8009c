package dev.nexa.slurm.cluster.scheduler.local;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
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
  private static final String TIME_LIMIT = " DUE TO TIME LIMIT";
  private static final String REQUEUE = " DUE TO JOB REQUEUE";

  private final JobLog log;
  private final Job job;
  private final Attempt attempt;
  private final int slot;
  private final TaskProcess process;
  private final Path error;
  private final Path again;
  private final Optional<Duration> limit;
  private final Optional<TimeWarning> warning;
  private final long began = System.nanoTime();
  private boolean stopped;
  private long killAt;
  private boolean warned;

  /**
   * Creates an attempt that has just started.
   *
   * @param again the file that the attempt creates to be requeued
   */
  RunningTask(JobLog log, Attempt attempt, int slot, TaskProcess process, Path error, Path again) {
    this.log = log;
    this.job = log.job();
    this.attempt = attempt;
    this.slot = slot;
    this.process = process;
    this.error = error;
    this.again = again;
    this.limit = job.limit();
    this.warning = job.warning();
  }

  int task() {
    return attempt.task();
  }

  int slot() {
    return slot;
  }

  /** Checks the attempt and does what is due; false if the attempt is over. */
  boolean look(long now) {
    Optional<ExitStatus> status = process.status();
    if (status.isPresent()) {
      finish(status.get(), now);
      return false;
    }
    if (stopped) {
      kill();
    } else if (limit.isPresent()) {
      warn(limit.get());
      if (since(began).compareTo(limit.get()) >= 0) {
        long end = attempt.start() + limit.get().toSeconds();
        stop(JobEvent.end(end, task(), "TIMEOUT", "0:0"), TIME_LIMIT);
      }
    }
    return true;
  }

  /** Kills the attempt without recording its end. */
  void abandon() {
    process.destroy();
  }

  private void finish(ExitStatus status, long now) {
    process.destroy();
    JobEvent gone = JobEvent.gone(now, task());
    if (stopped) {
      log.record(List.of(gone));
    } else if (job.requeue() && Files.exists(again)) {
      log.record(List.of(JobEvent.requeue(now, task(), "REQUEUED"), gone));
    } else {
      log.record(List.of(JobEvent.end(now, task(), status.state(), status.text()), gone));
    }
  }

  /** Ends the attempt for a user. */
  void cancel(long now, long uid) {
    stop(JobEvent.end(now, task(), "CANCELLED by " + uid, "0:0"), "");
  }

  /** Ends the attempt and queues the task again. */
  void requeue(long now) {
    stop(JobEvent.requeue(now, task(), "REQUEUED"), REQUEUE);
  }

  /** Records the end first. Otherwise a successor would record NODE_FAIL if this process dies. */
  private void stop(JobEvent end, String why) {
    log.record(List.of(end));
    stopped = true;
    killAt = System.nanoTime() + job.submission().settings().killWait().toNanos();
    say(why);
    process.signalAll("CONT");
    process.signalAll("TERM");
  }

  private void kill() {
    if (System.nanoTime() - killAt >= 0) {
      process.signalAll("KILL");
      killAt = System.nanoTime() + KILL_AGAIN.toNanos();
    }
  }

  private void warn(Duration before) {
    if (warned || warning.isEmpty()) {
      return;
    }
    Duration minute = job.submission().settings().minute();
    Duration notice = minute.multipliedBy(warning.get().secondsBefore()).dividedBy(60);
    if (since(began).plus(notice).compareTo(before) >= 0) {
      warned = true;
      if (warning.get().toScript()) {
        process.signalScript(warning.get().signal());
      }
    }
  }

  /** Writes slurmstepd's line to the error file. */
  private void say(String why) {
    String at =
        LocalDateTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS).toString();
    String host = job.submission().host();
    String line =
        "slurmstepd: error: *** JOB %d ON %s CANCELLED AT %s%s ***%n"
            .formatted(attempt.raw(), host, at, why);
    OutputFiles.append(error, line);
  }

  private static Duration since(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
  }
}
