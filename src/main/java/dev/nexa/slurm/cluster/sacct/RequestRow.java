package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.cluster.scheduler.Tres;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One row of sacct about a job, with what the job asked for.
 *
 * @param jobId the id of the job or array, without a task or component
 * @param task the id as printed, such as {@code 123_4}; equal for attempts of the same task
 * @param tasks the number of tasks that the row stands for; more than 1 only for tasks that never
 *     ran
 * @param partition the partition; empty if unknown
 * @param submit when the attempt was queued
 * @param end when it ended; empty if it has not ended
 * @param elapsed the time that it ran
 * @param limit the time limit
 * @param tres what it got; what it asked for, if it got nothing
 * @param nodes the number of nodes in {@code tres}; 1 if it does not name them
 */
public record RequestRow(
    String jobId,
    String task,
    int tasks,
    String user,
    String account,
    String partition,
    Instant submit,
    Optional<Instant> end,
    Duration elapsed,
    Limit limit,
    Tres tres,
    long nodes) {

  /**
   * A time limit.
   *
   * @param kind what sacct says about the limit
   * @param time the limit; zero unless the kind is {@code SET}
   */
  public record Limit(Kind kind, Duration time) {
    /** The kinds of limits in sacct's rows. */
    public enum Kind {
      SET,
      UNLIMITED,
      /** The limit is the partition's. */
      OF_PARTITION,
      /** The rows have no column for it. */
      UNKNOWN
    }
  }
}
