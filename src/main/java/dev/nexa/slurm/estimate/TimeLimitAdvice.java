package dev.nexa.slurm.estimate;

import dev.nexa.slurm.plan.Plan;
import java.util.Optional;

/**
 * A time limit that past runs would have kept to, nearly all of them.
 *
 * @param limitSeconds the limit: P90 of their longest attempts and a fifth more, in whole minutes
 * @param runs how many are looked at
 * @param cut how many of those it would have ended
 */
public record TimeLimitAdvice(long limitSeconds, int runs, int cut) {
  private static final double MARGIN = 1.2;

  /** Limits of more than an hour are told in steps of so many seconds, shorter ones in minutes. */
  private static final long STEP = 600;

  /**
   * Empty where too little is known of this very job (others have other lengths), or where the
   * plan's limit is no longer.
   */
  public static Optional<TimeLimitAdvice> of(Plan plan, Outlook outlook, Rates rates) {
    if (outlook.history().isEmpty() || !outlook.history().get().isOfSameJob()) {
      return Optional.empty();
    }
    double[] longest = outlook.history().get().longestAttempts(plan, outlook.data(), rates);
    if (longest.length < Quantiles.FEWEST) {
      return Optional.empty();
    }
    long seconds = (long) Math.ceil(new Quantiles(longest).p90() * MARGIN);
    long step = seconds > 3600 ? STEP : 60;
    long limit = Math.max(1, (seconds + step - 1) / step) * step;
    int cut = 0;
    for (double one : longest) {
      cut += one > limit ? 1 : 0;
    }
    return limit >= plan.allocation().timeLimit().toSeconds()
        ? Optional.empty()
        : Optional.of(new TimeLimitAdvice(limit, longest.length, cut));
  }
}
