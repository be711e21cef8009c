package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;

/**
 * One line of a job's {@code events.jsonl}: a change of the newest attempt of a task.
 *
 * @param at epoch seconds
 * @param task the array index
 * @param kind what changed
 * @param raw the task's own job id, for {@link Kind#START}
 * @param state sacct's state, for {@link Kind#END}
 * @param exitCode sacct's {@code exit:signal}, for {@link Kind#END}
 * @param again for {@link Kind#END}, whether the task is queued again once this attempt is over
 */
record JobEvent(
    long at, int task, Kind kind, long raw, String state, String exitCode, boolean again) {

  /** The kinds of changes. */
  enum Kind {
    /** The attempt is about to start. */
    START,
    /** The attempt's row is closed. */
    END,
    /** No process of the attempt is left. */
    GONE
  }

  static JobEvent start(long at, int task, long raw) {
    return new JobEvent(at, task, Kind.START, raw, "", "", false);
  }

  static JobEvent end(long at, int task, String state, String exitCode) {
    return new JobEvent(at, task, Kind.END, 0, state, exitCode, false);
  }

  /** Returns an end after which the task is queued again. */
  static JobEvent requeue(long at, int task, String state) {
    return new JobEvent(at, task, Kind.END, 0, state, "0:0", true);
  }

  static JobEvent gone(long at, int task) {
    return new JobEvent(at, task, Kind.GONE, 0, "", "", false);
  }

  /** Returns the event as one line with its newline. */
  String line() {
    JsonObject json = new JsonObject().with("at", at).with("task", task).with("event", kind);
    if (kind == Kind.START) {
      json.with("raw", raw);
    } else if (kind == Kind.END) {
      json.with("state", state).with("exit", exitCode).with("again", again);
    }
    return Json.compact(json) + "\n";
  }

  static JobEvent parse(String line) {
    JsonObject json = Json.parseObject(line);
    long at = json.number("at");
    int task = (int) json.number("task");
    return switch (Kind.valueOf(json.text("event"))) {
      case START -> start(at, task, json.number("raw"));
      case END ->
          new JobEvent(
              at, task, Kind.END, 0, json.text("state"), json.text("exit"), json.flag("again"));
      case GONE -> gone(at, task);
    };
  }
}
