package dev.nexa.slurm.run.diagnosis;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Why a run waits.
 *
 * @param reason Slurm's reason code, such as {@code Priority}
 * @param sentence the reason in words
 * @param partition the partition of the job; empty if Slurm did not say
 * @param ahead how many jobs of the partition Slurm lists before this job; empty if Slurm cannot be
 *     asked
 * @param start when Slurm expects the job to start; empty if it does not know
 * @param sooner changes that would let the job start sooner, the soonest start first
 */
public record Waiting(
    String reason,
    String sentence,
    Optional<String> partition,
    Optional<Integer> ahead,
    Optional<Instant> start,
    List<Sooner> sooner) {

  /**
   * A change that would let the job start sooner.
   *
   * @param option as {@code submit} takes it, such as {@code --set resources.time=0-00:15:00}
   */
  public record Sooner(String option, Instant start) {}
}
