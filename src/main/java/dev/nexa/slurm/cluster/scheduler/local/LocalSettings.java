package dev.nexa.slurm.cluster.scheduler.local;

import java.time.Duration;

/**
 * The settings that Slurm would read from slurm.conf.
 *
 * @param killWait time from SIGTERM to SIGKILL after a time limit or a cancellation (slurm.conf(5),
 *     KillWait)
 * @param minute length of a minute of a time limit; tests use a shorter one
 */
public record LocalSettings(Duration killWait, Duration minute) {
  /** Slurm's default KillWait, and minutes of 60 seconds. */
  public static final LocalSettings DEFAULT =
      new LocalSettings(Duration.ofSeconds(30), Duration.ofMinutes(1));
}
