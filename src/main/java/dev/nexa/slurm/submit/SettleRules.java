package dev.nexa.slurm.submit;

import java.time.Duration;
import java.util.Optional;

/**
 * How long a job may take to show itself.
 *
 * @param window after sbatch is gone, a job that exists is visible within this
 * @param blindWindow the same, where nobody can say when sbatch went: another host, or no pid
 *     recorded
 * @param saveWindow slurmctld saves an accepted job up to this much later (state_save.c,
 *     SAVE_MAX_WAIT)
 */
public record SettleRules(Duration window, Duration blindWindow, Duration saveWindow) {
  private static final Duration SAVE_WINDOW = Duration.ofSeconds(6);
  private static final Duration LEAST = Duration.ofMinutes(1);
  private static final Duration BLIND = Duration.ofMinutes(3);

  /** 2 x MessageTimeout + 5 s, at least 60 s, unless the policy sets another window. */
  public static SettleRules of(Duration messageTimeout, Optional<Duration> policyWindow) {
    Duration computed = messageTimeout.multipliedBy(2).plusSeconds(5);
    Duration window = policyWindow.orElse(computed.compareTo(LEAST) < 0 ? LEAST : computed);
    Duration blind = policyWindow.map(given -> given.multipliedBy(3)).orElse(BLIND);
    return new SettleRules(window, blind.compareTo(window) < 0 ? window : blind, SAVE_WINDOW);
  }
}
