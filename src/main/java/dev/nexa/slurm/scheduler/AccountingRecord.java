package dev.nexa.slurm.scheduler;

import dev.nexa.slurm.units.IndexRange;
import java.time.Instant;
import java.util.Optional;

/**
 * One allocation as accounting's row tells it, or the job itself: one attempt of one task, or a
 * range of tasks that never started.
 *
 * @param cluster the cluster's name in accounting
 * @param arrayJobId the array's job id (the job's own where it is no array)
 * @param rawJobId the task's own id
 * @param tasks the array indices the row speaks of; one, unless the row is a range that was never
 *     split; none where the row names no task (a job that is no array)
 * @param state the row's state
 * @param rawState the state as printed, such as {@code CANCELLED by 1000}
 * @param exitCode {@code exit:signal} as printed
 * @param submit when this attempt was queued; a requeue resets it
 * @param start when it was given its allocation; empty if never
 * @param end when it gave it back; empty while it runs
 * @param elapsedSeconds Slurm's own figure, suspended time not counted
 * @param nodes the node list, as printed
 * @param nodeCount number of nodes
 * @param allocTres what was allocated ({@code cpu=4,mem=8G,gres/gpu=2}); empty if never started
 * @param reqTres what was asked for
 * @param reason Slurm's reason
 * @param name the job's name, which is the submission's key
 * @param witness who says so
 * @param more what only some versions of Slurm tell
 */
public record AccountingRecord(
    String cluster,
    long arrayJobId,
    long rawJobId,
    IndexRange tasks,
    String user,
    String account,
    String partition,
    JobState state,
    String rawState,
    String exitCode,
    Instant submit,
    Optional<Instant> start,
    Optional<Instant> end,
    long elapsedSeconds,
    String nodes,
    int nodeCount,
    String allocTres,
    String reqTres,
    String reason,
    String name,
    Witness witness,
    More more) {

  /** A row that tells no more than every version does. */
  public AccountingRecord(
      String cluster,
      long arrayJobId,
      long rawJobId,
      IndexRange tasks,
      String user,
      String account,
      String partition,
      JobState state,
      String rawState,
      String exitCode,
      Instant submit,
      Optional<Instant> start,
      Optional<Instant> end,
      long elapsedSeconds,
      String nodes,
      int nodeCount,
      String allocTres,
      String reqTres,
      String reason,
      String name,
      Witness witness) {
    this(
        cluster,
        arrayJobId,
        rawJobId,
        tasks,
        user,
        account,
        partition,
        state,
        rawState,
        exitCode,
        submit,
        start,
        end,
        elapsedSeconds,
        nodes,
        nodeCount,
        allocTres,
        reqTres,
        reason,
        name,
        witness,
        More.NONE);
  }

  /**
   * Figures that are asked for where the cluster profile says that its sacct has them.
   *
   * @param plannedSeconds how long it could have begun and waited ({@code Planned}, up to 22.05
   *     {@code Reserved}): from when it was eligible, so without dependencies and holds
   * @param restarts how often it had been queued again ({@code Restarts}, since 24.11)
   */
  public record More(Optional<Long> plannedSeconds, Optional<Long> restarts) {
    public static final More NONE = new More(Optional.empty(), Optional.empty());
  }

  /** Who tells of an attempt. */
  public enum Witness {
    /** Slurm's accounting, or the local scheduler's. */
    ACCOUNTING,
    /**
     * The job's own result, where the cluster keeps no accounting: it does not know who ended it,
     * nor what exactly it was given, and a job that was killed outright says nothing.
     */
    JOB,
    /**
     * The controller's memory, where the cluster keeps no accounting: it tells of a task's newest
     * attempt only, and forgets it some minutes after its end (MinJobAge).
     */
    CONTROLLER
  }

  /** The row under the run's own numbers of its tasks. */
  public AccountingRecord plus(int offset) {
    return offset == 0 ? this : of(tasks.plus(offset), name);
  }

  /** The row under other numbers and another name. */
  public AccountingRecord of(IndexRange others, String otherName) {
    return of(others, otherName, more);
  }

  /** The row as it would be if only what every version tells had been asked for. */
  public AccountingRecord plain() {
    return of(tasks, name, More.NONE);
  }

  private AccountingRecord of(IndexRange others, String otherName, More otherMore) {
    return new AccountingRecord(
        cluster,
        arrayJobId,
        rawJobId,
        others,
        user,
        account,
        partition,
        state,
        rawState,
        exitCode,
        submit,
        start,
        end,
        elapsedSeconds,
        nodes,
        nodeCount,
        allocTres,
        reqTres,
        reason,
        otherName,
        witness,
        otherMore);
  }

  /** Whether the row is closed and its cost known. */
  public boolean ended() {
    return state.endsAttempt() && end.isPresent();
  }

  /**
   * Whether it is a whole array that was cancelled before it had tasks: its one row has no index
   * (seen with 22.05, scancel within a tenth of a second).
   */
  public boolean endedAsOne() {
    return tasks.indices().isEmpty() && state == JobState.CANCELLED && ended() && !ran();
  }

  /** Whether the job was ever given an allocation; one that was not costs nothing. */
  public boolean ran() {
    return start.isPresent() && !allocTres.isEmpty();
  }
}
