package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;

/**
 * One line of a job's {@code events.jsonl}: what happened to the newest attempt of a task.
 *
 * @param at epoch seconds
 * @param task the array index
 * @param kind the kind of change
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

  /** Returns an end that is no exit of the script. */
  static JobEvent end(long at, int task, String state, boolean again) {
    return new JobEvent(at, task, Kind.END, 0, state, "0:0", again);
  }

  static JobEvent gone(long at, int task) {
    return new JobEvent(at, task, Kind.GONE, 0, "", "", false);
  }

  /** Returns the event as one line with its newline. */
  String line() {
    return new JsonObject()
            .with("at", at)
            .with("task", task)
            .with("event", kind)
            .with("raw", raw)
            .with("state", state)
            .with("exit", exitCode)
            .with("again", again)
        + "\n";
  }

  /** Reads a line; earlier versions wrote only what an event has. */
  static JobEvent parse(String line) {
    JsonObject json = Json.parseObject(line);
    return new JobEvent(
        json.number("at"),
        (int) json.number("task"),
        Kind.valueOf(json.text("event")),
        json.optionalDecimal("raw").orElse(BigDecimal.ZERO).longValue(),
        json.optionalText("state").orElse(""),
        json.optionalText("exit").orElse(""),
        Boolean.TRUE.equals(json.members().get("again")));
  }
}
