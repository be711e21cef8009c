package dev.nexa.slurm.journal;

import dev.nexa.slurm.files.JsonObject;
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
 * @param offset the task of array index 0: an array holds no index above MaxArraySize
 * @param dependency what the job waits for, as sbatch takes it; empty for nothing
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
    int offset,
    String dependency,
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

  /** Nothing but its intent is known. */
  static Submission intended(
      String key, IndexRange tasks, int offset, String dependency, Instant at) {
    return new Submission(
        key,
        tasks,
        offset,
        dependency,
        at,
        Phase.INTENDED,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        List.of(),
        "");
  }

  /** The job of a run that was submitted without us, as its {@code created} event tells it. */
  static Submission imported(JsonObject data) {
    String key = data.text("key");
    IndexRange tasks = IndexRange.parse(data.text("tasks"));
    Instant submit = data.instant("submit");
    return intended(key, tasks, 0, "", submit)
        .withJob(data.number("job_id"), submit, List.of())
        .in(Phase.CONFIRMED, "");
  }

  Submission in(Phase next, String said) {
    return new Submission(
        key,
        tasks,
        offset,
        dependency,
        intended,
        next,
        client,
        clientGone,
        jobId,
        answered,
        missed,
        duplicates,
        said);
  }

  Submission withClient(ProcessIdentity process) {
    return seen(Optional.of(process), clientGone, missed);
  }

  Submission withClientGone(Instant at) {
    return seen(client, Optional.of(at), missed);
  }

  Submission withMissed(Instant at) {
    return seen(client, clientGone, Optional.of(at));
  }

  private Submission seen(
      Optional<ProcessIdentity> process, Optional<Instant> gone, Optional<Instant> missing) {
    return new Submission(
        key,
        tasks,
        offset,
        dependency,
        intended,
        phase,
        process,
        gone,
        jobId,
        answered,
        missing,
        duplicates,
        message);
  }

  Submission withJob(long id, Instant at, List<Long> further) {
    return new Submission(
        key,
        tasks,
        offset,
        dependency,
        intended,
        Phase.SUBMITTED,
        client,
        clientGone,
        Optional.of(id),
        Optional.of(at),
        Optional.empty(),
        List.copyOf(further),
        "");
  }

  /** Whether it is not settled yet: a job may exist, or be lost. */
  public boolean isOpen() {
    return unresolved() || phase == Phase.SUBMITTED;
  }

  /** Whether it is still open if a job exists. */
  public boolean unresolved() {
    return phase == Phase.INTENDED || phase == Phase.UNKNOWN;
  }

  /** Whether it came to nothing: what it held is not at work. */
  public boolean failed() {
    return phase == Phase.REFUSED || phase == Phase.CLOSED;
  }
}
