package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;

/**
 * The values that a random sweep draws from: a list, or a range of numbers.
 *
 * <p>A value depends only on the seed, the number of the draw and the key's name, by SHA-256. It is
 * the same on every machine, and other keys do not change it.
 */
record RandomAxis(List<?> choices, BigDecimal min, BigDecimal max, boolean log, boolean integer) {
  private static final int BITS = 52;

  /** Four digits distinguish two draws and are short enough to read. */
  private static final MathContext DIGITS = new MathContext(4, RoundingMode.HALF_EVEN);

  static RandomAxis of(List<?> choices) {
    return new RandomAxis(choices, BigDecimal.ZERO, BigDecimal.ZERO, false, false);
  }

  /**
   * Reads a range {@code {min, max, scale}}. It gives integers if {@code min} is written as an
   * integer.
   */
  static RandomAxis of(Values range) {
    String scale = range.optionalText("scale").orElse("linear");
    boolean integer = range.has("min") && range.required("min", Number.class) instanceof Integer;
    boolean log = scale.equals("log");
    return new RandomAxis(List.of(), number(range, "min"), number(range, "max"), log, integer);
  }

  private static BigDecimal number(Values range, String key) {
    return range.has(key)
        ? new BigDecimal(range.required(key, Number.class).toString())
        : BigDecimal.ZERO;
  }

  /** Returns whether the range or list has no value. */
  boolean isEmpty() {
    return choices.isEmpty() && (min.compareTo(max) >= 0 || (log && min.signum() <= 0));
  }

  /** Returns the value of one draw. */
  Object at(int seed, int draw, String key) {
    String digits = Sha256.of("sweep 1\n" + seed + "\n" + draw + "\n" + key).substring(0, BITS / 4);
    long bits = Long.parseLong(digits, 16);
    if (!choices.isEmpty()) {
      return choices.get((int) (bits % choices.size()));
    }
    boolean whole = min.scale() <= 0 && max.scale() <= 0;
    BigDecimal share = BigDecimal.valueOf(bits).divide(BigDecimal.valueOf(1L << BITS));
    BigDecimal top = whole ? max.add(BigDecimal.ONE) : max;
    BigDecimal value = log ? between(share, top) : min.add(top.subtract(min).multiply(share));
    BigDecimal rounded = whole ? value.setScale(0, RoundingMode.FLOOR) : value.round(DIGITS);
    BigDecimal inside = rounded.max(min).min(max);
    return integer ? (Object) inside.intValueExact() : inside;
  }

  /** Interpolates on a logarithmic scale. StrictMath gives the same digits on every machine. */
  private BigDecimal between(BigDecimal share, BigDecimal top) {
    double low = StrictMath.log(min.doubleValue());
    double high = StrictMath.log(top.doubleValue());
    return BigDecimal.valueOf(StrictMath.exp(low + (high - low) * share.doubleValue()));
  }
}
