package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.units.IndexRange;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

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
 * @param job its job; empty until it is known
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
    Optional<Job> job,
    boolean doubted,
    String message) {

  /**
   * The job of a submission.
   *
   * @param id the array's job id
   * @param answered when the id became known
   * @param missed when the job, which had begun, was first found neither in squeue nor in
   *     accounting
   * @param duplicates ids of further jobs with this name; they are reported, and their cost is
   *     counted
   */
  public record Job(long id, Instant answered, Optional<Instant> missed, List<Long> duplicates) {}

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
    return new Submission(
        key,
        tasks,
        offset,
        dependency,
        link,
        at,
        Phase.INTENDED,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        false,
        "");
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
    boolean unsure = next == Phase.UNKNOWN || next == Phase.REFUSED || next == Phase.CLOSED;
    return with(dependency, client, clientGone, next, job, doubted || unsure, said);
  }

  Submission withClient(ProcessIdentity process) {
    return with(dependency, Optional.of(process), clientGone, phase, job, doubted, message);
  }

  Submission withClientGone(Instant at) {
    return with(dependency, client, Optional.of(at), phase, job, doubted, message);
  }

  /** Returns a copy that waits for other jobs. */
  Submission waitingFor(String other) {
    return with(other, client, clientGone, phase, job, doubted, message);
  }

  Submission withMissed(Instant at) {
    Optional<Job> missed =
        job.map(known -> new Job(known.id, known.answered, Optional.of(at), known.duplicates));
    return with(dependency, client, clientGone, phase, missed, doubted, message);
  }

  Submission withJob(long id, Instant at, List<Long> further) {
    Job known = new Job(id, at, Optional.empty(), List.copyOf(further));
    return with(dependency, client, clientGone, Phase.SUBMITTED, Optional.of(known), doubted, "");
  }

  /** Returns a copy with a job that was found by its name. */
  Submission found(long id, Instant at, List<Long> further) {
    Optional<Job> known = withJob(id, at, further).job;
    return with(dependency, client, clientGone, Phase.SUBMITTED, known, true, "");
  }

  private Submission with(
      String other,
      Optional<ProcessIdentity> process,
      Optional<Instant> processGone,
      Phase next,
      Optional<Job> known,
      boolean unsure,
      String said) {
    return new Submission(
        key, tasks, offset, other, link, intended, next, process, processGone, known, unsure, said);
  }

  /** Returns the array's job id; empty until it is known. */
  public Optional<Long> jobId() {
    return job.map(Job::id);
  }

  /**
   * Returns a task's index in the job's array; empty if the job has no other, so its id is enough.
   */
  public OptionalInt index(int task) {
    return tasks.indices().size() == 1 ? OptionalInt.empty() : OptionalInt.of(task - offset);
  }

  /** Returns when the job id became known. */
  public Optional<Instant> answered() {
    return job.map(Job::answered);
  }

  /** Returns when the job was first missed in squeue and accounting. */
  public Optional<Instant> missed() {
    return job.flatMap(Job::missed);
  }

  /** Returns the ids of further jobs with this name. */
  public List<Long> duplicates() {
    return job.isPresent() ? job.get().duplicates() : List.of();
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
}
