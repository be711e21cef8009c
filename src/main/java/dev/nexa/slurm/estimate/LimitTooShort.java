package dev.nexa.slurm.estimate;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.units.TimeLimit;
import java.time.Duration;
import java.util.Optional;

/**
 * That a task will probably not be done within what its time limit gives it.
 *
 * @param limitSeconds of one attempt
 * @param links that follow each other, each with that limit
 * @param likelySeconds what a task probably takes, all attempts together
 * @param highSeconds what it hardly exceeds
 */
public record LimitTooShort(long limitSeconds, int links, long likelySeconds, long highSeconds) {
  /** Limits of more than an hour are asked for in steps of so many seconds, shorter in minutes. */
  private static final long STEP = 600;

  /** Past runs also count what was queued again, so they are held against every attempt. */
  static Optional<LimitTooShort> of(Plan plan, Expected.Method method, long likely, long high) {
    long limit = plan.allocation().timeLimit().toSeconds();
    int attempts = method == Expected.Method.HISTORY ? plan.attempts() : plan.chain();
    return likely <= limit * attempts
        ? Optional.empty()
        : Optional.of(new LimitTooShort(limit, plan.chain(), likely, Math.max(likely, high)));
  }

  /** The least limit that would do, of each link. */
  public long askSeconds() {
    long each = (highSeconds + links - 1) / links;
    long step = each > 3600 ? STEP : 60;
    return (each + step - 1) / step * step;
  }

  public String sentence() {
    String within = TimeLimit.words(Duration.ofSeconds(limitSeconds));
    String takes = words(likelySeconds);
    String most = words(highSeconds);
    return "will probably not finish within "
        + (links == 1 ? within : links + " links of " + within)
        + ": it takes "
        + takes
        + (most.equals(takes) ? "" : " to " + most)
        + "; ask for at least "
        + TimeLimit.words(Duration.ofSeconds(askSeconds()))
        + (links == 1 ? "" : " each");
  }

  /** To the minute where it is more than ten. */
  private static String words(long seconds) {
    return TimeLimit.words(Duration.ofSeconds(seconds < 600 ? seconds : (seconds + 30) / 60 * 60));
  }

  /** As estimate.json keeps it. */
  public JsonObject toJson() {
    return new JsonObject().with("ask_seconds", askSeconds()).with("sentence", sentence());
  }
}
