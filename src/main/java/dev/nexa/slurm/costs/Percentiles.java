package dev.nexa.slurm.costs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** P50 and P90 by nearest rank: always a value that was there, and no number in between. */
final class Percentiles<T extends Comparable<? super T>> {
  private final List<T> values = new ArrayList<>();

  void add(T value) {
    values.add(value);
  }

  int count() {
    return values.size();
  }

  /** The value that so many of a hundred do not exceed; empty where there are none. */
  Optional<T> of(int percent) {
    if (values.isEmpty()) {
      return Optional.empty();
    }
    Collections.sort(values);
    int rank = (int) (((long) percent * values.size() + 99) / 100);
    return Optional.of(values.get(Math.max(0, rank - 1)));
  }
}
