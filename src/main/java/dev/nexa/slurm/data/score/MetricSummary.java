package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.stats.Bootstrap;
import dev.nexa.slurm.data.stats.Interval;
import dev.nexa.slurm.data.stats.Sample;
import dev.nexa.slurm.data.stats.Wilson;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The summary of a metric over all items of an evaluation.
 *
 * @param value the mean
 * @param n the number of items; 0 if it is not known
 * @param stderr the standard error; empty if it is not known
 * @param interval the 95 % confidence interval of the mean; empty if it is not known
 */
public record MetricSummary(
    String name,
    double value,
    long n,
    OptionalDouble stderr,
    Optional<Interval> interval,
    boolean higherIsBetter) {
  /** The confidence of each summary's interval. */
  public static final double CONFIDENCE = 0.95;

  private static final String HIGHER = "higher";
  private static final MathContext DIGITS = new MathContext(10);

  /**
   * Sums up the values of items. The interval is Wilson's if all values are 0 or 1, and else the
   * bootstrap's. Empty if there are no values.
   */
  public static Optional<MetricSummary> of(
      String name, double[] values, boolean higherIsBetter, long seed) {
    if (values.length == 0) {
      return Optional.empty();
    }
    double error = Sample.standardError(values);
    return Optional.of(
        new MetricSummary(
            name,
            Sample.mean(values),
            values.length,
            Double.isNaN(error) ? OptionalDouble.empty() : OptionalDouble.of(error),
            values.length < 2
                ? Optional.empty()
                : Optional.of(
                    Sample.isBinary(values)
                        ? Wilson.of(values, CONFIDENCE)
                        : Bootstrap.of(values, seed).interval(CONFIDENCE)),
            higherIsBetter));
  }

  /** Returns a number for JSON: ten digits. */
  public static BigDecimal number(double value) {
    BigDecimal rounded = new BigDecimal(value, DIGITS).stripTrailingZeros();
    return rounded.scale() < 0 ? rounded.setScale(0) : rounded;
  }

  JsonObject json() {
    JsonObject json = new JsonObject().with("metric", name).with("value", number(value));
    json.withOptional("n", Optional.of(n).filter(known -> known > 0));
    stderr.ifPresent(it -> json.with("stderr", number(it)));
    interval.ifPresent(
        it -> json.with("lower", number(it.lower())).with("upper", number(it.upper())));
    return json.with("better", higherIsBetter ? HIGHER : "lower");
  }

  static MetricSummary of(JsonObject json) {
    Optional<Interval> interval =
        json.optionalDecimal("lower")
            .map(BigDecimal::doubleValue)
            .flatMap(
                lower ->
                    json.optionalDecimal("upper")
                        .map(upper -> new Interval(lower, upper.doubleValue(), CONFIDENCE)));
    Optional<BigDecimal> stderr = json.optionalDecimal("stderr");
    return new MetricSummary(
        json.text("metric"),
        json.decimal("value").doubleValue(),
        json.optionalDecimal("n").map(BigDecimal::longValue).orElse(0L),
        stderr.isPresent() ? OptionalDouble.of(stderr.get().doubleValue()) : OptionalDouble.empty(),
        interval,
        json.text("better").equals(HIGHER));
  }
}
