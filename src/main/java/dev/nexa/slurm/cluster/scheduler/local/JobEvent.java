package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.json.JsonObject;

/**
 * One line of a job's {@code events.jsonl}: what happened to the newest attempt of a task.
 *
 * <p>There are three events. START: the attempt is about to start. END: its row is closed. GONE: no
 * process of the attempt is left.
 *
 * @param json the line: {@code at} in epoch seconds, the array index {@code task} and the {@code
 *     event}; of a START the task's own job id {@code raw}; of an END sacct's {@code state} and
 *     {@code exit} ({@code exit:signal}), and {@code again}, whether the task is queued again once
 *     this attempt is over
 */
record JobEvent(JsonObject json) {
  static JobEvent start(long at, int task, long raw) {
    return of(at, task, "START", raw, "", "", false);
  }

  static JobEvent end(long at, int task, String state, String exitCode) {
    return of(at, task, "END", 0, state, exitCode, false);
  }

  /** Returns an end that is no exit of the script. */
  static JobEvent end(long at, int task, String state, boolean again) {
    return of(at, task, "END", 0, state, "0:0", again);
  }

  static JobEvent gone(long at, int task) {
    return of(at, task, "GONE", 0, "", "", false);
  }

  private static JobEvent of(
      long at, int task, String event, long raw, String state, String exitCode, boolean again) {
    return new JobEvent(
        new JsonObject()
            .with("at", at)
            .with("task", task)
            .with("event", event)
            .with("raw", raw)
            .with("state", state)
            .with("exit", exitCode)
            .with("again", again));
  }
}
