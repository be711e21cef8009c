package dev.nexa.slurm.run.status;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** A time when an attempt held resources, from its start to its end. */
record HeldTime(Instant from, Instant until) {

  /**
   * Returns how long at least one of the times lasted. A moment in several times counts once, and a
   * gap between times does not count. Zero for an empty list.
   */
  static Duration total(List<HeldTime> times) {
    Duration total = Duration.ZERO;
    Instant covered = Instant.MIN;
    for (HeldTime time : times.stream().sorted(Comparator.comparing(HeldTime::from)).toList()) {
      Instant from = time.from().isBefore(covered) ? covered : time.from();
      if (from.isBefore(time.until())) {
        total = total.plus(Duration.between(from, time.until()));
        covered = time.until();
      }
    }
    return total;
  }
}
