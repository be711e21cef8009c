package dev.nexa.slurm.scheduler.local;

/**
 * One allocation of one task: queued, then running, then ending (its row is closed, but processes
 * of it still get time to leave), then over. Times are epoch seconds, 0 where there is none.
 *
 * @param restart how often the task was requeued before
 * @param raw the task's own job id; the array's until it first starts
 * @param submit when it was queued
 * @param state sacct's word once it has ended, empty before
 * @param exitCode sacct's {@code exit:signal}
 * @param again whether another attempt follows
 * @param over whether nothing of it is left
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

  /** A task's first attempt. */
  static Attempt first(int task, long jobId, long submit) {
    return new Attempt(task, 0, jobId, submit, 0, 0, "", "0:0", false, false);
  }

  /** The attempt after this one, which is over. */
  Attempt next(long now) {
    return new Attempt(task, restart + 1, raw, now, 0, 0, "", "0:0", false, false);
  }

  Attempt started(long now, long rawId) {
    return new Attempt(task, restart, rawId, submit, now, 0, "", "0:0", false, false);
  }

  /**
   * The attempt with its row closed. One that was closed already keeps its end and, where the new
   * one says nothing, its exit code: so is a finished task requeued.
   */
  Attempt ended(long now, String newState, String code, boolean more) {
    boolean closed = end != 0;
    return new Attempt(
        task,
        restart,
        raw,
        submit,
        start,
        closed ? end : now,
        newState,
        closed ? exitCode : code,
        more,
        over || start == 0);
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

  /** Closed, but some of its processes may live. */
  boolean ending() {
    return !state.isEmpty() && !over;
  }
}
