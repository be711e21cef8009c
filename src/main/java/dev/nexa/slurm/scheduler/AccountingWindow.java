package dev.nexa.slurm.scheduler;

import java.time.Instant;
import java.util.Optional;

/**
 * Whose jobs accounting is asked for, and when they were there: without ids a window selects by
 * activity, so jobs that began before it or go on after it are told of, too (sacct(1), DEFAULT TIME
 * WINDOW).
 *
 * @param accounts Slurm accounts, separated by commas; of all their users
 * @param users user names, separated by commas
 * @param from the first second
 * @param to the second after the last
 */
public record AccountingWindow(
    Optional<String> accounts, Optional<String> users, Instant from, Instant to) {
  public AccountingWindow {
    if (accounts.isEmpty() && users.isEmpty()) {
      throw new IllegalArgumentException("ask by account or by user");
    }
    if (!from.isBefore(to)) {
      throw new IllegalArgumentException("a window of no time");
    }
  }

  /** Whether the time is within. */
  public boolean holds(Instant time) {
    return !time.isBefore(from) && time.isBefore(to);
  }
}
