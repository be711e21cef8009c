package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;

/**
 * One line of a job's {@code events.jsonl}: what happened to the newest attempt of a task.
 *
 * @param at epoch seconds
 * @param raw the task's own job id, for {@link Kind#START}
 * @param state sacct's word, for {@link Kind#END}; so are the next two
 * @param again whether the task is to be queued again once this attempt is gone
 */
record Event(long at, int task, Kind kind, long raw, String state, String exitCode, boolean again) {

  /** What can happen. */
  enum Kind {
    /** It is about to be started. */
    START,
    /** Its row is closed. */
    END,
    /** None of its processes is left. */
    GONE
  }

  static Event start(long at, int task, long raw) {
    return new Event(at, task, Kind.START, raw, "", "", false);
  }

  static Event end(long at, int task, String state, String exitCode) {
    return new Event(at, task, Kind.END, 0, state, exitCode, false);
  }

  /** An end after which the task runs again. */
  static Event requeue(long at, int task, String state) {
    return new Event(at, task, Kind.END, 0, state, "0:0", true);
  }

  static Event gone(long at, int task) {
    return new Event(at, task, Kind.GONE, 0, "", "", false);
  }

  /** One line, with its newline. */
  String line() {
    JsonObject json = new JsonObject().with("at", at).with("task", task).with("event", kind);
    if (kind == Kind.START) {
      json.with("raw", raw);
    } else if (kind == Kind.END) {
      json.with("state", state).with("exit", exitCode).with("again", again);
    }
    return Json.compact(json) + "\n";
  }

  static Event parse(String line) {
    JsonObject json = Json.parseObject(line);
    long at = json.number("at");
    int task = (int) json.number("task");
    return switch (Kind.valueOf(json.text("event"))) {
      case START -> start(at, task, json.number("raw"));
      case END ->
          new Event(
              at, task, Kind.END, 0, json.text("state"), json.text("exit"), json.flag("again"));
      case GONE -> gone(at, task);
    };
  }
}
