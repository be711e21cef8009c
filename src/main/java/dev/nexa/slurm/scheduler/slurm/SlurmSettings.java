package dev.nexa.slurm.scheduler.slurm;

import java.time.Duration;

/**
 * How long Slurm's clients may take.
 *
 * @param submitTimeout for sbatch, which itself retries a full queue for some two minutes
 * @param queryTimeout for squeue, sacct and the rest; a rate-limited client sleeps and retries by
 *     itself
 */
public record SlurmSettings(Duration submitTimeout, Duration queryTimeout) {
  public static final SlurmSettings DEFAULT =
      new SlurmSettings(Duration.ofMinutes(3), Duration.ofMinutes(5));
}
