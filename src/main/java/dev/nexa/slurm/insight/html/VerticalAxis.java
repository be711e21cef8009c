package dev.nexa.slurm.insight.html;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * The vertical axis of a chart, from zero to a round number.
 *
 * @param top the value at the upper end; above zero
 * @param ticks the values with a line, from zero on
 */
record VerticalAxis(BigDecimal top, List<BigDecimal> ticks) {
  private static final int MOST_TICKS = 5;

  /** Returns an axis for values up to a maximum. */
  static VerticalAxis upTo(BigDecimal most) {
    if (most.signum() <= 0) {
      return new VerticalAxis(BigDecimal.ONE, List.of(BigDecimal.ZERO, BigDecimal.ONE));
    }
    BigDecimal step = BigDecimal.ONE.scaleByPowerOfTen(most.precision() - most.scale() - 2);
    List<BigDecimal> factors = List.of(new BigDecimal(2), new BigDecimal("2.5"), new BigDecimal(2));
    for (int i = 0; most.compareTo(step.multiply(BigDecimal.valueOf(MOST_TICKS))) > 0; i++) {
      step = step.multiply(factors.get(i % factors.size()));
    }
    List<BigDecimal> ticks = new ArrayList<>();
    BigDecimal tick = BigDecimal.ZERO;
    for (; tick.compareTo(most) < 0; tick = tick.add(step)) {
      ticks.add(tick);
    }
    ticks.add(tick);
    return new VerticalAxis(tick, ticks);
  }

  /** Returns a value's height as a share of the axis, 0 to 1. */
  double share(BigDecimal value) {
    return Math.max(0, Math.min(1, value.doubleValue() / top.doubleValue()));
  }
}
