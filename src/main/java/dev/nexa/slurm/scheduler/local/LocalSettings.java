package dev.nexa.slurm.scheduler.local;

import java.time.Duration;

/**
 * What slurm.conf would say.
 *
 * @param killWait from SIGTERM to SIGKILL at a time limit or a cancellation (slurm.conf(5))
 * @param minute how long a minute of a time limit lasts; tests have shorter ones
 */
public record LocalSettings(Duration killWait, Duration minute) {
  /** Slurm's own default of KillWait. */
  public static final LocalSettings DEFAULT =
      new LocalSettings(Duration.ofSeconds(30), Duration.ofMinutes(1));
}
