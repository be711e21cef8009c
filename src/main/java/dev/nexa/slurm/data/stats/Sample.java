package dev.nexa.slurm.data.stats;

import java.util.Arrays;

/** Figures of a list of numbers. */
public final class Sample {
  private Sample() {}

  /** Returns the mean; not a number if there are no values. */
  public static double mean(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum / values.length;
  }

  /** Returns the standard error of the mean; not a number if there are fewer than two values. */
  public static double standardError(double[] values) {
    double mean = mean(values);
    double squares = 0;
    for (double value : values) {
      squares += (value - mean) * (value - mean);
    }
    int n = values.length;
    return n < 2 ? Double.NaN : Math.sqrt(squares / (n - 1) / n);
  }

  /** Returns whether each value is 0 or 1. */
  public static boolean isBinary(double[] values) {
    return Arrays.stream(values).allMatch(value -> value == 0 || value == 1);
  }
}
