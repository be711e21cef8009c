package dev.nexa.slurm.base.units;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Converts seconds to hours with four decimals. The rounding error is less than half a second. */
public final class Hours {
  private static final BigDecimal SECONDS = BigDecimal.valueOf(3600);

  private Hours() {}

  /** Returns the hours, rounded half-even. */
  public static BigDecimal of(long seconds) {
    return BigDecimal.valueOf(seconds).divide(SECONDS, 4, RoundingMode.HALF_EVEN);
  }
}
