package dev.nexa.slurm.cluster.scheduler;

import dev.nexa.slurm.base.units.IndexRange;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One row of accounting: one attempt of one task, a whole job, or a range of tasks that never
 * started.
 *
 * @param ids which job and tasks the row is about
 * @param association on whose behalf the job ran
 * @param status how the attempt stands
 * @param times when the attempt ran
 * @param allocated the resources that the attempt held
 * @param witness where the row comes from
 * @param more fields that not every version of Slurm prints, and the row's faults
 */
public record AccountingRecord(
    JobIds ids,
    Association association,
    Status status,
    Times times,
    Allocated allocated,
    Witness witness,
    More more) {

  /**
   * The job of a row.
   *
   * @param cluster the cluster's name in accounting; empty if the witness does not give it
   * @param arrayJobId the array's job id; for a job that is no array, its own id
   * @param rawJobId the job id of the task itself
   * @param tasks the array indices of the row; several only if Slurm never split the range; empty
   *     if the row names no task (a job that is no array)
   * @param name the job's name; for our jobs, the submission's key
   */
  public record JobIds(
      String cluster, long arrayJobId, long rawJobId, IndexRange tasks, String name) {}

  /** The user, account and partition of a job, as printed; empty if the witness has none. */
  public record Association(String user, String account, String partition) {
    /** No field is known. */
    public static final Association UNKNOWN = new Association("", "", "");
  }

  /**
   * The state of an attempt.
   *
   * @param state the row's state
   * @param rawState the state as printed, such as {@code CANCELLED by 1000}
   * @param exitCode {@code exit:signal} as printed
   * @param reason Slurm's reason code
   */
  public record Status(JobState state, String rawState, String exitCode, String reason) {}

  /**
   * The times of an attempt.
   *
   * @param submit when this attempt was queued; a requeue resets it
   * @param start when the attempt got its allocation; empty if it never did
   * @param end when the allocation ended; empty while it runs
   * @param elapsedSeconds seconds as Slurm counts them, without suspended time
   */
  public record Times(
      Instant submit, Optional<Instant> start, Optional<Instant> end, long elapsedSeconds) {}

  /**
   * The nodes and resources of an attempt.
   *
   * @param nodes the node list, as printed
   * @param nodeCount number of nodes
   * @param allocTres allocated resources ({@code cpu=4,mem=8G,gres/gpu=2}); empty if it never
   *     started
   * @param reqTres requested resources, in the format of {@code allocTres}
   */
  public record Allocated(String nodes, int nodeCount, String allocTres, String reqTres) {}

  /**
   * Fields that only some versions of sacct print, and the row's faults.
   *
   * @param plannedSeconds seconds between eligible and started, without dependencies and holds
   *     (sacct field {@code Planned}, called {@code Reserved} up to 22.05)
   * @param restarts how often the job had been requeued before this attempt (sacct field {@code
   *     Restarts}, since 24.11)
   * @param faults sentences that say where the row contradicts itself in a field that the cost
   *     depends on; nearly always empty
   */
  public record More(Optional<Long> plannedSeconds, Optional<Long> restarts, List<String> faults) {
    /** No optional field is known, and there are no faults. */
    public static final More NONE = new More(Optional.empty(), Optional.empty(), List.of());
  }

  /** The source of a row. */
  public enum Witness {
    /** Slurm's accounting, or the local scheduler's. */
    ACCOUNTING,
    /**
     * The result file that the job itself wrote, on a cluster without accounting. It does not
     * record who ended the job or the exact allocation, and a job that was killed with SIGKILL
     * writes no result.
     */
    JOB,
    /**
     * slurmctld's memory, on a cluster without accounting. It holds only the newest attempt of a
     * task, and slurmctld drops it some minutes after the job ends (slurm.conf(5), MinJobAge).
     */
    CONTROLLER
  }

  public String cluster() {
    return ids.cluster();
  }

  public long arrayJobId() {
    return ids.arrayJobId();
  }

  public long rawJobId() {
    return ids.rawJobId();
  }

  public IndexRange tasks() {
    return ids.tasks();
  }

  public String name() {
    return ids.name();
  }

  public String user() {
    return association.user();
  }

  public String account() {
    return association.account();
  }

  public String partition() {
    return association.partition();
  }

  public JobState state() {
    return status.state();
  }

  public String rawState() {
    return status.rawState();
  }

  public String exitCode() {
    return status.exitCode();
  }

  public String reason() {
    return status.reason();
  }

  public Instant submit() {
    return times.submit();
  }

  public Optional<Instant> start() {
    return times.start();
  }

  public Optional<Instant> end() {
    return times.end();
  }

  public long elapsedSeconds() {
    return times.elapsedSeconds();
  }

  public String nodes() {
    return allocated.nodes();
  }

  public int nodeCount() {
    return allocated.nodeCount();
  }

  public String allocTres() {
    return allocated.allocTres();
  }

  public String reqTres() {
    return allocated.reqTres();
  }

  /** Returns a copy with another start, another allocation and another duration. */
  public AccountingRecord holding(Instant start, String tres, long seconds) {
    return new AccountingRecord(
        ids,
        association,
        status,
        new Times(submit(), Optional.of(start), end(), seconds),
        new Allocated(nodes(), nodeCount(), tres, reqTres()),
        witness,
        more);
  }

  /** Returns a copy with these faults instead of its own. */
  public AccountingRecord faulty(List<String> faults) {
    return with(ids, new More(more.plannedSeconds(), more.restarts(), faults));
  }

  /** Returns a copy whose task numbers are the run's: the array indices plus the offset. */
  public AccountingRecord plus(int offset) {
    return offset == 0 ? this : of(tasks().plus(offset), name());
  }

  /** Returns a copy with other task numbers and another name. */
  public AccountingRecord of(IndexRange others, String otherName) {
    return with(new JobIds(cluster(), arrayJobId(), rawJobId(), others, otherName), more);
  }

  /** Returns a copy without the fields of {@link More}. */
  public AccountingRecord plain() {
    return with(ids, More.NONE);
  }

  private AccountingRecord with(JobIds otherIds, More otherMore) {
    return new AccountingRecord(
        otherIds, association, status, times, allocated, witness, otherMore);
  }

  /**
   * Returns the job's id as Slurm's commands print it: {@code 123}, or {@code 123_4} for a task.
   */
  public String shownId() {
    return tasks().indices().isEmpty() ? "" + arrayJobId() : arrayJobId() + "_" + tasks();
  }

  /** Returns whether the attempt is over: its state ends an attempt and the row has an end time. */
  public boolean ended() {
    return state().endsAttempt() && end().isPresent();
  }

  /**
   * Returns whether this row is a whole array that was cancelled before Slurm split it into tasks:
   * one row without an array index (seen with 22.05 and an scancel within 0.1 s).
   */
  public boolean endedAsOne() {
    return tasks().indices().isEmpty() && state() == JobState.CANCELLED && ended() && !ran();
  }

  /**
   * Returns whether the row says that a job completed although it never began. For a waiting job
   * that slurmctld has lost, {@code sacctmgr show runawayjobs} writes that into its row (seen with
   * 22.05). Such a job did no work.
   */
  public boolean completedUnbegun() {
    return state() == JobState.COMPLETED && start().isEmpty() && allocTres().isEmpty();
  }

  /** Returns whether the row shows that its job was there: it has a start, or came to an end. */
  public boolean lived() {
    return (start().isPresent() || end().isPresent()) && !completedUnbegun();
  }

  /** Returns whether the job ever had an allocation. A job without one costs nothing. */
  public boolean ran() {
    return start().isPresent() && !allocTres().isEmpty();
  }
}
