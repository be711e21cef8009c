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
    return new Draft(key, tasks, offset, dependency, at).done();
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
    Draft draft = new Draft(this);
    draft.phase = next;
    draft.message = said;
    return draft.done();
  }

  Submission withClient(ProcessIdentity process) {
    Draft draft = new Draft(this);
    draft.client = Optional.of(process);
    return draft.done();
  }

  Submission withClientGone(Instant at) {
    Draft draft = new Draft(this);
    draft.clientGone = Optional.of(at);
    return draft.done();
  }

  Submission withMissed(Instant at) {
    Draft draft = new Draft(this);
    draft.missed = Optional.of(at);
    return draft.done();
  }

  Submission withJob(long id, Instant at, List<Long> further) {
    Draft draft = new Draft(this);
    draft.phase = Phase.SUBMITTED;
    draft.jobId = Optional.of(id);
    draft.answered = Optional.of(at);
    draft.missed = Optional.empty();
    draft.duplicates = List.copyOf(further);
    draft.message = "";
    return draft.done();
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

  /** One that an event changes: the only place that knows all of a submission's parts. */
  private static final class Draft {
    private final String key;
    private final IndexRange tasks;
    private final int offset;
    private final String dependency;
    private final Instant intended;
    private Phase phase = Phase.INTENDED;
    private Optional<ProcessIdentity> client = Optional.empty();
    private Optional<Instant> clientGone = Optional.empty();
    private Optional<Long> jobId = Optional.empty();
    private Optional<Instant> answered = Optional.empty();
    private Optional<Instant> missed = Optional.empty();
    private List<Long> duplicates = List.of();
    private String message = "";

    Draft(String key, IndexRange tasks, int offset, String dependency, Instant intended) {
      this.key = key;
      this.tasks = tasks;
      this.offset = offset;
      this.dependency = dependency;
      this.intended = intended;
    }

    Draft(Submission of) {
      this(of.key, of.tasks, of.offset, of.dependency, of.intended);
      phase = of.phase;
      client = of.client;
      clientGone = of.clientGone;
      jobId = of.jobId;
      answered = of.answered;
      missed = of.missed;
      duplicates = of.duplicates;
      message = of.message;
    }

    Submission done() {
      return new Submission(
          key,
          tasks,
          offset,
          dependency,
          intended,
          phase,
          client,
          clientGone,
          jobId,
          answered,
          missed,
          duplicates,
          message);
    }
  }
}
