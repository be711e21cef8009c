package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.json.JsonObject;
import java.time.Instant;

/**
 * One line of a journal.
 *
 * @param type the kind of event
 * @param at when it happened, truncated to milliseconds
 * @param data the event's values, under the keys that {@link RunState} reads
 */
public record Event(Type type, Instant at, JsonObject data) {

  /** The kinds of events. */
  public enum Type {
    /** The run was made. The data hold its digests, its command and its reservation. */
    CREATED,
    /** Some tasks are to run again. The data name them and hold their reservation. */
    RERUN,
    /** sbatch is about to be called. This event is durable before the call. */
    SUBMITTING,
    /** The sbatch process has started. The data identify it. */
    CLIENT_STARTED,
    /** The scheduler printed a job id. */
    SUBMITTED,
    /** The scheduler certainly made no job. */
    REFUSED,
    /**
     * The scheduler made no job, because a limit for waiting jobs is reached. The submission counts
     * as never made, and a later pass makes it.
     */
    POSTPONED,
    /** The job waits for other jobs now. The data hold its new dependency. */
    REPOINTED,
    /** A job may or may not exist. */
    UNKNOWN,
    /** The sbatch process of an unknown submission no longer runs. The settle window begins. */
    CLIENT_GONE,
    /**
     * A job had begun, but neither squeue nor accounting lists it. The settle window begins,
     * because accounting may be late.
     */
    MISSED,
    /**
     * A job was found by its name, for a submission that was unknown or given up, or in addition to
     * the job that sbatch named. A finished run becomes unfinished.
     */
    ADOPTED,
    /** squeue listed the job, or accounting has its end. */
    CONFIRMED,
    /** No job of this submission exists: it was never made, or Slurm lost it. */
    CLOSED,
    /** A user asked to end the run. */
    CANCEL_REQUESTED,
    /** A crash had cut the journal's last line short. The line was removed. */
    TORN_TAIL,
    /**
     * The run is over. The data hold the size in bytes of its durable files, which storage cost
     * depends on.
     */
    MEASURED,
    /** The manifest and the cost file are final. */
    FINISHED,
    /**
     * Somebody wrote down what was done about a failure of the run, which had finished. The data
     * hold the text and the digest of the manifest, which has the text, too.
     */
    REMEDIATED
  }

  /** Returns an event that happens now. */
  public static Event now(Type type, JsonObject data) {
    return new Event(type, Instant.ofEpochMilli(System.currentTimeMillis()), data);
  }
}
