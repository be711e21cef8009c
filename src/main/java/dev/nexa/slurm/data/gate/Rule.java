package dev.nexa.slurm.data.gate;

import dev.nexa.slurm.base.text.InLowerCase;

/**
 * One condition of a gate.
 *
 * @param metric the name of a metric; in a table of items, a column
 * @param higherIsBetter false if a low value is good
 */
public record Rule(String metric, boolean higherIsBetter, Condition condition) {
  /** The condition that a metric must fulfil. */
  public sealed interface Condition {}

  /**
   * The metric is on the good side of a limit.
   *
   * @param atLeast true if the metric must be at least the limit; false if it must be at most that
   * @param on the figure that is compared
   */
  public record Threshold(boolean atLeast, double limit, On on) implements Condition {}

  /** The figure that is compared with a limit. */
  public enum On implements InLowerCase {
    /** The bound of the 95 % interval that is nearer to the bad side. */
    BOUND,
    /** The mean. */
    ESTIMATE
  }

  /**
   * The metric is no worse than the baseline's, by the same items.
   *
   * @param mode the burden of proof
   * @param minimumEffect a smaller loss does not count; at least 0, and above 0 for {@link
   *     Mode#NON_INFERIORITY}
   */
  public record NoWorse(Mode mode, double minimumEffect) implements Condition {}

  /** The burden of proof. */
  public enum Mode implements InLowerCase {
    /** The gate fails if a loss is proven. */
    REGRESSION,
    /** The gate fails unless it is proven that the loss is less than the minimum effect. */
    NON_INFERIORITY
  }
}
