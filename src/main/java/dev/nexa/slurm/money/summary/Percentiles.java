package dev.nexa.slurm.money.summary;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Percentiles by nearest rank: the result is always one of the values. */
final class Percentiles<T extends Comparable<? super T>> {
  private final List<T> values = new ArrayList<>();

  void add(T value) {
    values.add(value);
  }

  int count() {
    return values.size();
  }

  /**
   * Returns the smallest value that at least this percentage of the values do not exceed; empty if
   * there are no values.
   */
  Optional<T> of(int percent) {
    if (values.isEmpty()) {
      return Optional.empty();
    }
    Collections.sort(values);
    int rank = (int) (((long) percent * values.size() + 99) / 100);
    return Optional.of(values.get(Math.max(0, rank - 1)));
  }
}
