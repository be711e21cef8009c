package dev.nexa.slurm.run.cron;

import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.records.runs.Heartbeat;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Checks whether passes still happen. Immutable; reads no file.
 *
 * @param late whether passes are missing, so that monitoring should raise an alarm
 * @param words a description of the newest pass, without a full stop
 */
public record HeartbeatCheck(boolean late, String words) {
  /** A pass may be slow, and a reboot may skip one. */
  private static final int PERIODS = 3;

  /**
   * Checks the newest pass.
   *
   * @param heartbeat the newest pass; empty if there was none
   * @param anyRun whether the workspace has a run; without a run, passes write no heartbeat
   */
  public static HeartbeatCheck of(
      Optional<Heartbeat> heartbeat, boolean anyRun, PassInterval every, Instant now) {
    if (heartbeat.isEmpty()) {
      return anyRun
          ? new HeartbeatCheck(true, "no pass has been made yet")
          : new HeartbeatCheck(false, "there is no run yet, so no pass was needed");
    }
    Heartbeat last = heartbeat.get();
    // During an outage passes ask Slurm less often. Such a gap is not a missing pass.
    Instant due =
        last.askAgain(last.lastPass())
            .orElse(last.lastPass())
            .plus(every.duration().multipliedBy(PERIODS));
    boolean late = now.isAfter(due);
    String missing = ", more than " + PERIODS + " periods of " + every + ": passes are missing";
    String why = " is not known, because " + last.error().orElse("Slurm does not answer");
    return new HeartbeatCheck(
        late,
        "last pass "
            + ago(last.lastPass(), now)
            + (late ? missing : "")
            + last.behindSince().map(at -> "; what happened after " + at + why).orElse(""));
  }

  private static String ago(Instant then, Instant now) {
    Duration age = Duration.between(then, now);
    return age.toSeconds() < 1
        ? "just now"
        : TimeLimit.words(Duration.ofSeconds(age.toSeconds())) + " ago";
  }
}
