package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.json.Codec;

/**
 * The settings that Slurm would read from slurm.conf.
 *
 * @param killWaitMillis time from SIGTERM to SIGKILL after a time limit or a cancellation
 *     (slurm.conf(5), KillWait)
 * @param minuteMillis length of a minute of a time limit; tests use a shorter one
 */
public record LocalSettings(long killWaitMillis, long minuteMillis) implements Codec.Flat {
  /** Slurm's default KillWait, and minutes of 60 seconds. */
  public static final LocalSettings DEFAULT = new LocalSettings(30_000, 60_000);
}
