package dev.nexa.slurm.cluster.scheduler;

import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.units.BillingWeights;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * Runs jobs, on Slurm or on this machine. Both implementations take the same script and produce the
 * same states and accounting rows. The conformance suite tests that.
 *
 * <p>Every method may throw {@link SchedulerUnavailable}. The state of the jobs is then unknown; it
 * never means that there is no job.
 */
public interface Scheduler {

  /** Returns the scheduler's name in journals and messages: {@code slurm} or {@code local}. */
  String name();

  /**
   * Submits one job, once, without a retry.
   *
   * @param started called with the client process as soon as it runs, before its answer; the client
   *     outlives this process if this process dies
   * @return whether the job was made, refused, or may exist
   */
  SubmitAnswer submit(SubmitRequest request, Consumer<ProcessIdentity> started);

  /**
   * Returns every task of this user that the scheduler lists now. Pending tasks of an array are
   * listed one by one.
   *
   * @throws SchedulerUnavailable if the answer holds a job's line that cannot be read
   */
  List<QueueEntry> queue();

  /**
   * Returns what {@link #queue()} returns, but throws {@link SchedulerUnavailable} if the answer
   * holds any other line, such as a site's notice. For a caller that destroys what no listed job
   * needs.
   */
  default List<QueueEntry> wholeQueue() {
    return queue();
  }

  /** Returns the tasks that the scheduler lists now under this job name. */
  default List<QueueEntry> queue(String key) {
    return queue().stream().filter(entry -> entry.name().equals(key)).toList();
  }

  /** Passes the query's accounting rows to the consumer, all attempts, in the scheduler's order. */
  void accounting(AccountingQuery query, Consumer<AccountingRecord> rows);

  /**
   * Cancels a job. Does nothing if the job is no longer in the queue.
   *
   * @param key the job's name; a job with this id and another name is not touched
   * @param task one array index, or empty for the whole job
   */
  void cancel(String key, long jobId, OptionalInt task);

  /**
   * Ends the running attempt of one task and queues the task again under its id.
   *
   * @param task one array index, or empty for a job of one task
   * @return false if the task waits already, because something else queued it again first
   */
  boolean requeue(long jobId, OptionalInt task);

  /**
   * Returns the number of nodes of a partition, or of several in sbatch's notation; 0 if it is not
   * known.
   *
   * @param partition empty for the default partition
   */
  default int nodeCount(String partition) {
    return 0;
  }

  /** Makes a waiting task keep off nodes, in place of those that it keeps off now. */
  default void keepOff(long jobId, OptionalInt task, String nodes) {
    throw new IllegalStateException(name() + " has one node");
  }

  /**
   * Queues a task again that has ended, with more memory or time.
   *
   * @param size as scontrol(1) takes it: {@code MinMemoryNode=2000} or {@code TimeLimit=20}
   * @throws SchedulerUnavailable if the scheduler does not do it, such as for a job that it has
   *     forgotten or that may not run again
   */
  default void requeueLarger(long jobId, OptionalInt task, String size) {
    throw new IllegalStateException(name() + " gives each attempt the same");
  }

  /**
   * Makes the waiting tasks of a job wait for other jobs. The job keeps its id and its age in the
   * queue (scontrol(1), {@code update Dependency}).
   *
   * @param dependency as sbatch's {@code --dependency}; empty for none
   */
  void dependOn(long jobId, String dependency);

  /**
   * Returns the newest attempt of each task of an array that the scheduler still remembers, also
   * after the array has left the queue.
   *
   * @return empty if the scheduler has forgotten the array, or never remembers jobs
   */
  default List<ControllerJob> remembered(long arrayJobId) {
    return List.of();
  }

  /**
   * Returns whether the cluster keeps accounting. Without it, a job that left the queue may have
   * finished although there is no row.
   */
  default boolean keepsAccounting() {
    return true;
  }

  /**
   * Returns whether accounting knows all that the scheduler knew at the time of this call. False if
   * that cannot be proven.
   */
  default boolean accountingIsCurrent() {
    return true;
  }

  /**
   * Adds fields to every later accounting query.
   *
   * @param fields sacct's names of the fields; a scheduler without such fields ignores them
   */
  default void askFor(List<String> fields) {}

  /** Returns why accounting refused a field of {@link #askFor}; empty if it refused none. */
  default Optional<String> refusal() {
    return Optional.empty();
  }

  /**
   * Returns the billing weights that the scheduler applies now, by partition; empty if it has none.
   */
  default Map<String, BillingWeights> billingWeights() {
    return Map.of();
  }
}
