package dev.nexa.slurm.config;

import dev.nexa.slurm.files.Sha256;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;

/**
 * Values that a random sweep draws from: those of a list, or the numbers of a range. What is drawn
 * depends on the seed, the draw's number and the key's name alone, by SHA-256: it is the same on
 * every machine, and another key beside it changes nothing.
 */
final class Draw {
  private static final int BITS = 52;

  /** Enough to tell two draws apart, few enough to read. */
  private static final MathContext DIGITS = new MathContext(4, RoundingMode.HALF_EVEN);

  private final List<?> choices;
  private final BigDecimal min;
  private final BigDecimal max;
  private final boolean log;
  private final boolean integer;

  private Draw(List<?> choices, BigDecimal min, BigDecimal max, boolean log, boolean integer) {
    this.choices = choices;
    this.min = min;
    this.max = max;
    this.log = log;
    this.integer = integer;
  }

  static Draw of(List<?> choices) {
    return new Draw(choices, BigDecimal.ZERO, BigDecimal.ZERO, false, false);
  }

  /** {@code {min, max, scale}}: whole numbers where both ends are written as such. */
  static Draw of(Values range) {
    String scale = range.optionalText("scale").orElse("linear");
    boolean integer = range.has("min") && range.required("min", Number.class) instanceof Integer;
    boolean log = scale.equals("log");
    return new Draw(List.of(), number(range, "min"), number(range, "max"), log, integer);
  }

  private static BigDecimal number(Values range, String key) {
    return range.has(key)
        ? new BigDecimal(range.required(key, Number.class).toString())
        : BigDecimal.ZERO;
  }

  /** Whether there is nothing to draw from. */
  boolean isEmpty() {
    return choices.isEmpty() && (min.compareTo(max) >= 0 || (log && min.signum() <= 0));
  }

  /** The value of one draw. */
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

  /** StrictMath: the same digits on every machine. */
  private BigDecimal between(BigDecimal share, BigDecimal top) {
    double low = StrictMath.log(min.doubleValue());
    double high = StrictMath.log(top.doubleValue());
    return BigDecimal.valueOf(StrictMath.exp(low + (high - low) * share.doubleValue()));
  }
}
