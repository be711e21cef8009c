package dev.nexa.slurm.run.submit;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/** What came of each kind of fault. */
final class FaultTable {
  private final Map<Fault, int[]> counts = new EnumMap<>(Fault.class);
  private final Map<Fault, Integer> mostPasses = new EnumMap<>(Fault.class);
  private final Map<Fault, Long> longest = new EnumMap<>(Fault.class);
  private int injected;
  private int corrected;

  /**
   * A trial has ended.
   *
   * @param well whether the judge found nothing
   */
  synchronized void add(FaultTrial trial, Duration took, boolean well) {
    Map<Fault, Integer> struck = trial.struck();
    int passes = trial.passes();
    corrected += trial.corrected();
    for (Map.Entry<Fault, Integer> fault : struck.entrySet()) {
      int[] count = counts.computeIfAbsent(fault.getKey(), none -> new int[3]);
      count[0] += fault.getValue();
      count[1] += well ? fault.getValue() : 0;
      count[2] += struck.size() == 1 ? fault.getValue() : 0;
      injected += fault.getValue();
      mostPasses.merge(fault.getKey(), passes, Math::max);
      longest.merge(fault.getKey(), took.toMillis(), Math::max);
    }
  }

  synchronized int injected() {
    return injected;
  }

  /** Records that only {@code audit --repair} could set right. */
  synchronized int corrected() {
    return corrected;
  }

  /**
   * The table.
   *
   * @param left kinds that can't be produced here
   */
  synchronized String text(Set<Fault> left) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            "%-42s %8s %7s %7s %9s %9s %11s%n",
            "fault", "injected", "alone", "healed", "passes<=", "seconds<=", "differences"));
    for (Fault fault : Fault.values()) {
      int[] count = counts.getOrDefault(fault, new int[3]);
      if (left.contains(fault)) {
        text.append(String.format("%-42s not on this machine%n", fault.told()));
      } else {
        text.append(
            String.format(
                "%-42s %8d %7d %7d %9d %9.1f %11d%n",
                fault.told(),
                count[0],
                count[2],
                count[1],
                mostPasses.getOrDefault(fault, 0),
                longest.getOrDefault(fault, 0L) / 1000.0,
                count[0] - count[1]));
      }
    }
    return text.toString();
  }
}
