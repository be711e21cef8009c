package dev.nexa.slurm.cluster.scheduler;

import java.time.Instant;
import java.util.Optional;

/**
 * Selects accounting rows by account or user in a window of time. The command sacct selects by
 * activity, so jobs that began before the window, or continue after it, are included (sacct(1),
 * DEFAULT TIME WINDOW).
 *
 * @param accounts Slurm accounts, separated by commas; selects the jobs of all their users
 * @param users user names, separated by commas
 * @param from start of the window, inclusive
 * @param to end of the window, exclusive
 */
public record AccountingWindow(
    Optional<String> accounts, Optional<String> users, Instant from, Instant to) {
  /**
   * Creates a window.
   *
   * @throws IllegalArgumentException if it selects neither accounts nor users, or does not begin
   *     before it ends
   */
  public AccountingWindow {
    if (accounts.isEmpty() && users.isEmpty()) {
      throw new IllegalArgumentException("ask by account or by user");
    }
    if (!from.isBefore(to)) {
      throw new IllegalArgumentException("a window of no time");
    }
  }

  /** Returns whether the time lies in the window: {@code from} inclusive, {@code to} exclusive. */
  public boolean holds(Instant time) {
    return !time.isBefore(from) && time.isBefore(to);
  }
}
