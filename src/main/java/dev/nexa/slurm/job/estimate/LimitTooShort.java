package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.plan.Plan;
import java.time.Duration;
import java.util.Optional;

/**
 * A warning that a task will probably not finish within its time limit.
 *
 * @param limitSeconds the time limit of one attempt
 * @param links the number of jobs in the chain, each with that limit
 * @param likelySeconds the most likely duration of a task, all attempts together
 * @param highSeconds the duration that a task hardly exceeds
 */
public record LimitTooShort(long limitSeconds, int links, long likelySeconds, long highSeconds) {
  /**
   * Advice of more than an hour is rounded up to a multiple of these seconds, shorter advice to
   * whole minutes.
   */
  private static final long STEP = 600;

  /**
   * Returns a warning if the likely duration exceeds the limit of all attempts. Durations of past
   * runs include requeued attempts, so they are compared with all attempts; others with the chain.
   */
  static Optional<LimitTooShort> of(Plan plan, Expected.Method method, long likely, long high) {
    long limit = plan.allocation().timeLimit().toSeconds();
    int links = plan.shape().array().chain();
    int attempts = method == Expected.Method.HISTORY ? plan.attempts() : links;
    return likely <= limit * attempts
        ? Optional.empty()
        : Optional.of(new LimitTooShort(limit, links, likely, Math.max(likely, high)));
  }

  /** Returns the shortest sufficient limit of each link, rounded up. */
  public long askSeconds() {
    long each = (highSeconds + links - 1) / links;
    long step = each > 3600 ? STEP : 60;
    return (each + step - 1) / step * step;
  }

  /** Returns the warning, with the limit to ask for. */
  public String sentence() {
    String within = TimeLimit.words(Duration.ofSeconds(limitSeconds));
    String takes = TimeLimit.roundedWords(likelySeconds);
    String most = TimeLimit.roundedWords(highSeconds);
    return "will probably not finish within "
        + (links == 1 ? within : links + " links of " + within)
        + ": it takes "
        + takes
        + (most.equals(takes) ? "" : " to " + most)
        + "; ask for at least "
        + TimeLimit.words(Duration.ofSeconds(askSeconds()))
        + (links == 1 ? "" : " each");
  }

  /** Returns the key {@code limit_too_short} of estimate.json. */
  public JsonObject toJson() {
    return new JsonObject().with("ask_seconds", askSeconds()).with("sentence", sentence());
  }
}
