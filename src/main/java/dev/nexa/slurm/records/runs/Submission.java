package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.units.IndexRange;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One sbatch call of a run, as the run's events describe it.
 *
 * @param key the job's name
 * @param tasks the run's tasks that it holds
 * @param offset the run's task at array index 0; needed because array indices are below
 *     MaxArraySize
 * @param dependency the job's dependency in sbatch's notation; empty for none
 * @param link which of the jobs that follow each other this is; equal for a lost submission and its
 *     replacement
 * @param intended when the intent was written
 * @param phase how far it got
 * @param client the sbatch process; empty if it was not recorded
 * @param clientGone when that process was found to be gone
 * @param jobId the array's job id; empty until it is known
 * @param answered when the job id became known
 * @param missed when a job that had begun was first found neither in squeue nor in accounting
 * @param duplicates ids of further jobs with this name; they are reported, and their cost is
 *     counted
 * @param doubted whether the job was not known from sbatch's answer alone, so that further jobs may
 *     have its name
 * @param message the scheduler's message, if it refused or its answer was unclear
 */
public record Submission(
    String key,
    IndexRange tasks,
    int offset,
    String dependency,
    String link,
    Instant intended,
    Phase phase,
    Optional<ProcessIdentity> client,
    Optional<Instant> clientGone,
    Optional<Long> jobId,
    Optional<Instant> answered,
    Optional<Instant> missed,
    List<Long> duplicates,
    boolean doubted,
    String message) {

  /** The progress of a submission. */
  public enum Phase {
    /**
     * The intent is written, and there is no answer: sbatch may run, may never have run, or its
     * answer was lost.
     */
    INTENDED,
    /** After the answer, a job may or may not exist. */
    UNKNOWN,
    /**
     * A job id is known. The job may still be lost, because slurmctld saves its state up to 5 s
     * later.
     */
    SUBMITTED,
    /** The job exists, or existed and ran. */
    CONFIRMED,
    /** The scheduler refused the submission. */
    REFUSED,
    /** No job exists, and none will. */
    CLOSED
  }

  /** Returns a submission with nothing known but its intent. */
  static Submission intended(
      String key, IndexRange tasks, int offset, String dependency, String link, Instant at) {
    return new Draft(key, tasks, offset, dependency, link, at).done();
  }

  /**
   * Returns the submission of a job that was submitted without nexa-slurm.
   *
   * @param data the data of the run's {@code created} event
   */
  static Submission imported(JsonObject data) {
    String key = data.text("key");
    IndexRange tasks = IndexRange.parse(data.text("tasks"));
    Instant submit = data.instant("submit");
    return intended(key, tasks, 0, "", "", submit)
        .withJob(data.number("job_id"), submit, List.of())
        .in(Phase.CONFIRMED, "");
  }

  Submission in(Phase next, String said) {
    Draft draft = new Draft(this);
    draft.phase = next;
    draft.doubted |= next == Phase.UNKNOWN || next == Phase.REFUSED || next == Phase.CLOSED;
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

  /** Returns a copy that waits for other jobs. */
  Submission waitingFor(String other) {
    Draft draft = new Draft(this);
    draft.dependency = other;
    return draft.done();
  }

  /** Returns a copy with a job that was found by its name. */
  Submission found(long id, Instant at, List<Long> further) {
    Draft draft = new Draft(withJob(id, at, further));
    draft.doubted = true;
    return draft.done();
  }

  /** Returns whether the submission is not settled: a job may exist, or may be lost. */
  public boolean isOpen() {
    return unresolved() || phase == Phase.SUBMITTED;
  }

  /** Returns whether it is unknown if a job exists. */
  public boolean unresolved() {
    return phase == Phase.INTENDED || phase == Phase.UNKNOWN;
  }

  /** Returns whether the submission has no job, so its tasks do not run. */
  public boolean failed() {
    return phase == Phase.REFUSED || phase == Phase.CLOSED;
  }

  /**
   * A mutable copy. Only this class lists all components, so that each event changes just its own.
   */
  private static final class Draft {
    private final String key;
    private final IndexRange tasks;
    private final int offset;
    private String dependency;
    private final String link;
    private final Instant intended;
    private Phase phase = Phase.INTENDED;
    private Optional<ProcessIdentity> client = Optional.empty();
    private Optional<Instant> clientGone = Optional.empty();
    private Optional<Long> jobId = Optional.empty();
    private Optional<Instant> answered = Optional.empty();
    private Optional<Instant> missed = Optional.empty();
    private List<Long> duplicates = List.of();
    private boolean doubted;
    private String message = "";

    Draft(
        String key,
        IndexRange tasks,
        int offset,
        String dependency,
        String link,
        Instant intended) {
      this.key = key;
      this.tasks = tasks;
      this.offset = offset;
      this.dependency = dependency;
      this.link = link;
      this.intended = intended;
    }

    Draft(Submission of) {
      this(of.key, of.tasks, of.offset, of.dependency, of.link, of.intended);
      phase = of.phase;
      client = of.client;
      clientGone = of.clientGone;
      jobId = of.jobId;
      answered = of.answered;
      missed = of.missed;
      duplicates = of.duplicates;
      doubted = of.doubted;
      message = of.message;
    }

    Submission done() {
      return new Submission(
          key,
          tasks,
          offset,
          dependency,
          link,
          intended,
          phase,
          client,
          clientGone,
          jobId,
          answered,
          missed,
          duplicates,
          doubted,
          message);
    }
  }
}
