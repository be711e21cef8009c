package dev.nexa.slurm.scheduler.local;

import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * One attempt while it runs: its time limit, its warning, its end.
 *
 * <p>As slurmd does it ({@code _rpc_timelimit}, {@code _rpc_terminate_job} in Slurm's req.c): the
 * row is closed at once, all processes get SIGCONT and SIGTERM, and SIGKILL after KillWait. When
 * the script ends, whatever it left is killed.
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
  private final Optional<Duration> limit;
  private final Optional<Warning> warning;
  private final long began = System.nanoTime();
  private boolean stopped;
  private long killAt;
  private boolean warned;

  RunningTask(JobLog log, Attempt attempt, int slot, TaskProcess process, Path error) {
    this.log = log;
    this.job = log.job();
    this.attempt = attempt;
    this.slot = slot;
    this.process = process;
    this.error = error;
    this.limit = job.limit();
    this.warning = job.warning();
  }

  int task() {
    return attempt.task();
  }

  int slot() {
    return slot;
  }

  /** Looks once and does what is due; false if nothing is left of it. */
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
        stop(Event.end(end, task(), "TIMEOUT", "0:0"), TIME_LIMIT);
      }
    }
    return true;
  }

  /** Kills it, and says nothing. */
  void abandon() {
    process.destroy();
  }

  private void finish(ExitStatus status, long now) {
    process.destroy();
    Event gone = Event.gone(now, task());
    log.record(
        stopped
            ? List.of(gone)
            : List.of(Event.end(now, task(), status.state(), status.text()), gone));
  }

  /** Ends it for somebody. */
  void cancel(long now, long uid) {
    stop(Event.end(now, task(), "CANCELLED by " + uid, "0:0"), "");
  }

  /** Ends it, to be run again. */
  void requeue(long now) {
    stop(Event.requeue(now, task(), "REQUEUED"), REQUEUE);
  }

  /** Written down first: a successor must not take it for the victim of our death. */
  private void stop(Event end, String why) {
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

  /** The line that slurmstepd leaves in the error file. */
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
