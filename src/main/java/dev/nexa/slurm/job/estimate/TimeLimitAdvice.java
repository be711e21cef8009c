package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.job.plan.Plan;
import java.util.Arrays;
import java.util.Optional;

/**
 * A shorter time limit that nearly all past runs would have met.
 *
 * @param limitSeconds the limit: the P90 of the longest attempts plus 20 %, rounded up
 * @param runs the number of past runs
 * @param cut how many of them the limit would have ended
 */
public record TimeLimitAdvice(long limitSeconds, int runs, int cut) {
  private static final double MARGIN = 1.2;

  /**
   * Limits of more than an hour are rounded up to a multiple of these seconds, shorter limits to
   * whole minutes.
   */
  private static final long STEP = 600;

  /**
   * Returns advice for a plan.
   *
   * @return empty if there are too few past runs of the same job, because other jobs have other
   *     durations, or if the plan's limit is not longer
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
    int cut = (int) Arrays.stream(longest).filter(one -> one > limit).count();
    return limit >= plan.allocation().timeLimit().toSeconds()
        ? Optional.empty()
        : Optional.of(new TimeLimitAdvice(limit, longest.length, cut));
  }
}
