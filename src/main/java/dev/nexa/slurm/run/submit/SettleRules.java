package dev.nexa.slurm.run.submit;

import java.time.Duration;
import java.util.Optional;

/**
 * The times within which a submitted job becomes visible in Slurm.
 *
 * @param window a job that exists is visible within this time after its sbatch process ended
 * @param blindWindow the window if it is not known when sbatch ended: it ran on another host, or
 *     its pid was not recorded
 */
public record SettleRules(Duration window, Duration blindWindow) {
  /** slurmctld saves an accepted job at most this much later (state_save.c, SAVE_MAX_WAIT). */
  static final Duration SAVE_WINDOW = Duration.ofSeconds(6);

  private static final Duration LEAST = Duration.ofMinutes(1);
  private static final Duration BLIND = Duration.ofMinutes(3);

  /** Returns the policy's window, or 2 × MessageTimeout + 5 s, at least 60 s. */
  public static SettleRules of(Duration messageTimeout, Optional<Duration> policyWindow) {
    Duration computed = messageTimeout.multipliedBy(2).plusSeconds(5);
    Duration window = policyWindow.orElse(computed.compareTo(LEAST) < 0 ? LEAST : computed);
    Duration blind = policyWindow.map(given -> given.multipliedBy(3)).orElse(BLIND);
    return new SettleRules(window, blind.compareTo(window) < 0 ? window : blind);
  }
}
