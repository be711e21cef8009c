package dev.nexa.slurm.data.score;

import java.math.BigDecimal;

/**
 * The scores that a judge may give.
 *
 * @param lowest the lowest score
 * @param highest the highest score; greater than the lowest
 * @param integers whether a score must be a whole number
 */
public record Scale(BigDecimal lowest, BigDecimal highest, boolean integers) {
  /** Returns whether the score is allowed. */
  public boolean allows(BigDecimal score) {
    return score.compareTo(lowest) >= 0
        && score.compareTo(highest) <= 0
        && (!integers || score.stripTrailingZeros().scale() <= 0);
  }

  @Override
  public String toString() {
    return (integers ? "a whole number from " : "a number from ")
        + lowest.toPlainString()
        + " to "
        + highest.toPlainString();
  }
}
