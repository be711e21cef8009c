package dev.nexa.slurm.journal;

import dev.nexa.slurm.process.ProcessIdentity;
import dev.nexa.slurm.units.IndexRange;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One sbatch call of a run, as its events tell.
 *
 * @param key the job's name
 * @param tasks the run's tasks it holds
 * @param intended when the intent was written
 * @param phase how far it got
 * @param client the sbatch process, where it was recorded
 * @param clientGone when that process was seen to be gone
 * @param jobId the array's job id, once known
 * @param answered when the id became known
 * @param missed when a job that had begun was first seen nowhere
 * @param duplicates ids of further jobs of the same name: reported, and their cost counted
 * @param message what the scheduler said, where it refused or left it open
 */
public record Submission(
    String key,
    IndexRange tasks,
    Instant intended,
    Phase phase,
    Optional<ProcessIdentity> client,
    Optional<Instant> clientGone,
    Optional<Long> jobId,
    Optional<Instant> answered,
    Optional<Instant> missed,
    List<Long> duplicates,
    String message) {

  /** How far a submission got. */
  public enum Phase {
    /**
     * The intent is written, and no answer: sbatch may be running, or never ran, or its answer was
     * lost.
     */
    INTENDED,
    /** The answer left it open whether there is a job. */
    UNKNOWN,
    /** An id is known. An id is not yet a job: slurmctld saves its state up to 5 s later. */
    SUBMITTED,
    /** The job exists, or existed and ran. */
    CONFIRMED,
    /** The scheduler refused. */
    REFUSED,
    /** No job exists, and none will. */
    CLOSED
  }

  /** Whether it is not settled yet: a job may exist, or be lost. */
  public boolean isOpen() {
    return unresolved() || phase == Phase.SUBMITTED;
  }

  /** Whether it is still open if a job exists. */
  public boolean unresolved() {
    return phase == Phase.INTENDED || phase == Phase.UNKNOWN;
  }
}
