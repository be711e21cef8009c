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

  private final Job job;
  private final Attempt attempt;
  private final int slot;
  private final TaskProcess process;
  private final Path error;
  private final long began = System.nanoTime();
  private boolean stopped;
  private long killAt;
  private boolean warned;

  RunningTask(Job job, Attempt attempt, int slot, TaskProcess process, Path error) {
    this.job = job;
    this.attempt = attempt;
    this.slot = slot;
    this.process = process;
    this.error = error;
  }

  int task() {
    return attempt.task();
  }

  int slot() {
    return slot;
  }

  /** Looks once, does what is due, and says what happened; a task that is gone is done with. */
  List<Event> look(long now) {
    Optional<ExitStatus> status = process.status();
    if (status.isPresent()) {
      return finish(status.get(), now);
    }
    if (stopped) {
      if (System.nanoTime() - killAt >= 0) {
        process.signalAll("KILL");
        killAt = System.nanoTime() + KILL_AGAIN.toNanos();
      }
      return List.of();
    }
    Optional<Duration> limit = job.limit();
    if (limit.isPresent()) {
      warn(limit.get());
      if (since(began).compareTo(limit.get()) >= 0) {
        long end = attempt.start() + limit.get().toSeconds();
        return stop(Event.end(end, task(), "TIMEOUT", "0:0"), TIME_LIMIT);
      }
    }
    return List.of();
  }

  /** Kills it, and says nothing. */
  void abandon() {
    process.destroy();
  }

  private List<Event> finish(ExitStatus status, long now) {
    process.destroy();
    Event gone = Event.gone(now, task());
    return stopped
        ? List.of(gone)
        : List.of(Event.end(now, task(), status.state(), status.text()), gone);
  }

  /** Ends it for somebody. */
  List<Event> cancel(long now, long uid) {
    return stop(Event.end(now, task(), "CANCELLED by " + uid, "0:0"), "");
  }

  /** Ends it, to be run again. */
  List<Event> requeue(long now) {
    return stop(Event.requeue(now, task(), "REQUEUED"), REQUEUE);
  }

  private List<Event> stop(Event end, String why) {
    stopped = true;
    killAt = System.nanoTime() + job.submission().settings().killWait().toNanos();
    say(why);
    process.signalAll("CONT");
    process.signalAll("TERM");
    return List.of(end);
  }

  private void warn(Duration limit) {
    Optional<Warning> warning = job.warning();
    if (warned || warning.isEmpty()) {
      return;
    }
    Duration minute = job.submission().settings().minute();
    Duration before = minute.multipliedBy(warning.get().secondsBefore()).dividedBy(60);
    if (since(began).plus(before).compareTo(limit) >= 0) {
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
