package dev.nexa.slurm.cron;

import dev.nexa.slurm.journal.Heartbeat;
import dev.nexa.slurm.units.TimeLimit;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Whether passes still come. Pure.
 *
 * @param late whether one is missing: monitoring should wake somebody
 * @param words what there is to say, without a full stop
 */
public record HeartbeatCheck(boolean late, String words) {
  /** A pass may be slow, and one may be skipped by a machine that starts anew. */
  private static final int PERIODS = 3;

  /**
   * Looks at the newest pass.
   *
   * @param heartbeat the newest pass; empty if there was none
   * @param anyRun whether the workspace has a run: without one passes leave no heartbeat
   */
  public static HeartbeatCheck of(
      Optional<Heartbeat> heartbeat, boolean anyRun, Period every, Instant now) {
    if (heartbeat.isEmpty()) {
      return anyRun
          ? new HeartbeatCheck(true, "no pass has been made yet")
          : new HeartbeatCheck(false, "no run has been made yet: passes leave no heartbeat");
    }
    Heartbeat last = heartbeat.get();
    // While a service is in trouble passes ask less often, and that is no pass missing.
    Instant due =
        last.askAgain(last.lastPass())
            .orElse(last.lastPass())
            .plus(every.duration().multipliedBy(PERIODS));
    boolean late = now.isAfter(due);
    StringBuilder words = new StringBuilder("last pass ").append(ago(last.lastPass(), now));
    if (late) {
      words.append(", more than ").append(PERIODS).append(" periods of ").append(every);
      words.append(": passes are missing");
    }
    if (last.behindSince().isPresent()) {
      words.append("; what happened after ").append(last.behindSince().get());
      words.append(" is not known, because ").append(last.error().orElse("Slurm does not answer"));
    }
    return new HeartbeatCheck(late, words.toString());
  }

  private static String ago(Instant then, Instant now) {
    Duration age = Duration.between(then, now);
    return age.toSeconds() < 1
        ? "just now"
        : TimeLimit.words(Duration.ofSeconds(age.toSeconds())) + " ago";
  }
}
