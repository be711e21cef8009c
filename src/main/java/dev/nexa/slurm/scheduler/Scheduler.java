package dev.nexa.slurm.scheduler;

import dev.nexa.slurm.process.ProcessIdentity;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * What runs jobs: Slurm, or this machine. Both take the same script, give the same states and leave
 * the same accounting rows; the conformance suite holds them to it.
 *
 * <p>Every call may throw {@link SchedulerUnavailable}; what it says is then unknown, never "no
 * job".
 */
public interface Scheduler {

  /** How the scheduler is named in journals and messages: {@code slurm} or {@code local}. */
  String name();

  /**
   * Asks for one job, once, without any retry.
   *
   * @param started told of the client process the moment it runs, before its answer: it outlives us
   *     if we die
   */
  SubmitAnswer submit(SubmitRequest request, Consumer<ProcessIdentity> started);

  /** Every task of this user that the scheduler holds now, pending ones one by one. */
  List<QueueEntry> queue();

  /** The accounting rows of the query, every attempt, in the order they come. */
  void accounting(AccountingQuery query, Consumer<AccountingRecord> rows);

  /**
   * Asks for a job's end. A job that is no longer there is no error.
   *
   * @param key the job's name: nothing else by that id is touched
   * @param task one array index, or empty for the whole job
   */
  void cancel(String key, long jobId, OptionalInt task);

  /** Ends the running attempt of one task and queues it again under the same id. */
  void requeue(long jobId, int task);

  /**
   * What the scheduler itself still remembers of an array that has left the queue, or is about to:
   * each task's newest attempt. Nothing where it does not remember it any more.
   */
  default List<RememberedJob> remembered(long arrayJobId) {
    return List.of();
  }

  /** Whether accounting is kept at all; without it a job that left the queue may have finished. */
  boolean keepsAccounting();
}
