package dev.nexa.slurm.records.telemetry;

import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * The distribution of values over time. Each value counts for as long as it held. Memory is
 * bounded: values are kept in whole units, or in steps of one percent for bytes.
 */
public final class Spread {
  private static final double STEP = Math.log(1.01);
  private static final int MOST = 100_000;

  private final boolean whole;
  private final TreeMap<Integer, Long> millis = new TreeMap<>();
  private double sum;
  private long total;
  private double peak = Double.NEGATIVE_INFINITY;
  private double first = Double.NaN;

  Spread(Measure.Unit unit) {
    this.whole = unit.isWhole();
  }

  /**
   * Adds a value.
   *
   * @param heldMillis how long it held; 0 for the first value of a series, because there is no
   *     value before it
   */
  void add(double value, long heldMillis) {
    peak = Math.max(peak, value);
    if (Double.isNaN(first)) {
      first = value;
    }
    if (heldMillis > 0) {
      millis.merge(key(value), heldMillis, Long::sum);
      sum += value * heldMillis;
      total += heldMillis;
    }
  }

  /** Adds the values of another spread of the same unit. */
  void add(Spread other) {
    other.millis.forEach((key, held) -> millis.merge(key, held, Long::sum));
    sum += other.sum;
    total += other.total;
    peak = Math.max(peak, other.peak);
    if (Double.isNaN(first)) {
      first = other.first;
    }
  }

  /** Returns whether no value was added. */
  public boolean isEmpty() {
    return Double.isNaN(first);
  }

  /** Returns the largest value; empty if there is none. */
  public OptionalDouble peak() {
    return isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(peak);
  }

  /** Returns the mean over time; empty if there is none. */
  public OptionalDouble mean() {
    return isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(total == 0 ? first : sum / total);
  }

  /** Returns the sum over time: for watts, this is joules. */
  public double integral() {
    return sum / 1000;
  }

  /** Returns how long values were seen, in milliseconds. */
  public long millis() {
    return total;
  }

  /**
   * Returns the smallest value that the given share of the time did not exceed; empty if there is
   * none.
   *
   * @param share such as 0.95
   */
  public OptionalDouble quantile(double share) {
    if (isEmpty()) {
      return OptionalDouble.empty();
    }
    long passed = 0;
    for (Map.Entry<Integer, Long> held : millis.entrySet()) {
      passed += held.getValue();
      if (passed >= share * total) {
        return OptionalDouble.of(Math.min(peak, value(held.getKey())));
      }
    }
    return OptionalDouble.of(first);
  }

  private int key(double value) {
    double key = whole ? value : Math.log(Math.max(1, value)) / STEP;
    return (int) Math.max(0, Math.min(MOST, Math.round(key)));
  }

  private double value(int key) {
    return whole || key == 0 ? key : Math.exp(key * STEP);
  }
}
