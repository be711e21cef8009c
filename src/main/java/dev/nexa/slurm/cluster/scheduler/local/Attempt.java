package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.cluster.scheduler.JobState;
import java.time.Instant;
import java.util.Optional;

/**
 * One allocation of one task. Its phases are pending, running, ending (its row is closed, but some
 * of its processes may live) and over. A time is in epoch seconds; 0 means that there is none.
 *
 * @param task the array index
 * @param restart how often the task was requeued before
 * @param raw the task's own job id; the array's id until the task first starts
 * @param submit when the attempt was queued
 * @param start when it began
 * @param end when it ended
 * @param state sacct's state after the end; empty before
 * @param exitCode sacct's {@code exit:signal}
 * @param again whether another attempt follows
 * @param over whether no process is left
 */
record Attempt(
    int task,
    int restart,
    long raw,
    long submit,
    long start,
    long end,
    String state,
    String exitCode,
    boolean again,
    boolean over) {

  /** Returns a task's first attempt, pending. */
  static Attempt first(int task, long jobId, long submit) {
    return new Attempt(task, 0, jobId, submit, 0, 0, "", "0:0", false, false);
  }

  /** Returns the next attempt of the same task, pending. */
  Attempt next(long now) {
    return new Attempt(task, restart + 1, raw, now, 0, 0, "", "0:0", false, false);
  }

  /** Returns a copy that has begun; never before it was queued, if the clock was set back. */
  Attempt started(long now, long rawId) {
    long began = Math.max(now, submit);
    return new Attempt(task, restart, rawId, submit, began, 0, "", "0:0", false, false);
  }

  /**
   * Returns a copy with its row closed. An attempt that is already closed keeps its end and its
   * exit code; this happens when a finished task is requeued.
   */
  Attempt ended(long now, String newState, String code, boolean more) {
    long until = end != 0 ? end : Math.max(now, start);
    String exit = end != 0 ? exitCode : code;
    boolean gone = start == 0 || over;
    return new Attempt(task, restart, raw, submit, start, until, newState, exit, more, gone);
  }

  Attempt gone() {
    return new Attempt(task, restart, raw, submit, start, end, state, exitCode, again, true);
  }

  boolean pending() {
    return start == 0 && state.isEmpty();
  }

  boolean running() {
    return start != 0 && state.isEmpty();
  }

  /** Returns whether the row is closed, while some processes may live. */
  boolean ending() {
    return !state.isEmpty() && !over;
  }

  /** Returns the state as squeue prints it, of an attempt that is not over. */
  JobState queueState() {
    return pending() ? JobState.PENDING : running() ? JobState.RUNNING : JobState.COMPLETING;
  }

  /** Returns a time of an attempt; empty if there is none. */
  static Optional<Instant> time(long epochSeconds) {
    return Optional.of(Instant.ofEpochSecond(epochSeconds)).filter(at -> epochSeconds != 0);
  }
}
