package dev.nexa.slurm.cluster.scheduler.slurm;

import java.time.Duration;

/**
 * The time limits of Slurm's commands.
 *
 * @param submitTimeout for sbatch, which itself retries for about two minutes if slurmctld is busy
 * @param queryTimeout for all other commands; a rate-limited command sleeps and retries by itself
 */
public record ClientTimeouts(Duration submitTimeout, Duration queryTimeout) {
  /** 3 minutes for sbatch, 5 minutes for all other commands. */
  public static final ClientTimeouts DEFAULT =
      new ClientTimeouts(Duration.ofMinutes(3), Duration.ofMinutes(5));

  /** 30 seconds for a query: a view asks again, and says that there was no answer. */
  public static final ClientTimeouts OF_A_VIEW =
      new ClientTimeouts(DEFAULT.submitTimeout(), Duration.ofSeconds(30));
}
