package dev.nexa.slurm.data.score;

import java.util.Arrays;

/** A growing list of numbers, 8 bytes each. */
final class NumberList {
  private double[] values = new double[256];
  private int size;

  void add(double value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, size * 2);
    }
    values[size++] = value;
  }

  /** Returns a copy. */
  double[] array() {
    return Arrays.copyOf(values, size);
  }
}
