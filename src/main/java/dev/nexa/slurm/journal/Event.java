package dev.nexa.slurm.journal;

import dev.nexa.slurm.files.JsonObject;
import java.time.Instant;

/**
 * One line of a journal.
 *
 * @param at when, truncated to milliseconds
 * @param data what belongs to the type, under the keys that {@link RunState} reads
 */
public record Event(Type type, Instant at, JsonObject data) {

  /** What happened. */
  public enum Type {
    /** The run was made: who, with which command. */
    CREATED,
    /** Some of its tasks are to run once more: which, and what that can cost. */
    RERUN,
    /** A submission is about to be made: durable before sbatch is called. */
    SUBMITTING,
    /** sbatch runs, as this process. */
    CLIENT_STARTED,
    /** The scheduler named a job. */
    SUBMITTED,
    /** The scheduler surely made none. */
    REFUSED,
    /** A job may exist. */
    UNKNOWN,
    /**
     * The sbatch process of an unknown submission was seen to be gone: the settle window begins.
     */
    CLIENT_GONE,
    /**
     * A job has begun, and neither squeue nor accounting shows it: the settle window begins,
     * because accounting may be late.
     */
    MISSED,
    /** An unknown submission's job was found by its name. */
    ADOPTED,
    /** The scheduler was seen to hold the job, or accounting to have seen it run. */
    CONFIRMED,
    /** No job of this submission exists: it was never made, or Slurm lost it. */
    CLOSED,
    /** Somebody asked for the run's end. */
    CANCEL_REQUESTED,
    /** The journal's last line had been cut short by a crash and was removed. */
    TORN_TAIL,
    /** The run is over, and its durable files hold so many bytes: what keeping them costs. */
    MEASURED,
    /** The manifest and the cost file are final. */
    FINISHED
  }

  /** An event of now. */
  public static Event now(Type type, JsonObject data) {
    return new Event(type, Instant.ofEpochMilli(System.currentTimeMillis()), data);
  }
}
