package dev.nexa.slurm.estimate;

import dev.nexa.slurm.files.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Optional;

/**
 * How far past runs ended from what was said of them.
 *
 * @param runs how many
 * @param lowPercent of the cheapest: -12 is 12 of a hundred below what was expected, or 12 is 12 of
 *     a hundred of the reservation
 * @param highPercent of the dearest
 * @param ofReservation whether nothing was expected of them, so that they are held against what was
 *     reserved
 */
public record ErrorBand(int runs, int lowPercent, int highPercent, boolean ofReservation) {
  /** Older ones were estimated otherwise. */
  private static final int MOST = 24;

  /** Of past runs, newest first; empty where nothing was said of any. */
  static Optional<ErrorBand> of(List<PastRun> past) {
    Optional<ErrorBand> expected = of(past, false);
    return expected.isPresent() ? expected : of(past, true);
  }

  private static Optional<ErrorBand> of(List<PastRun> past, boolean ofReservation) {
    int count = 0;
    int low = Integer.MAX_VALUE;
    int high = Integer.MIN_VALUE;
    for (PastRun run : past) {
      Optional<BigDecimal> said = ofReservation ? run.reservation() : run.expected();
      if (count < MOST && said.isPresent() && said.get().signum() > 0) {
        int percent = percent(run.cost().amount(), said.get()) - (ofReservation ? 0 : 100);
        low = Math.min(low, percent);
        high = Math.max(high, percent);
        count++;
      }
    }
    return count == 0
        ? Optional.empty()
        : Optional.of(new ErrorBand(count, low, high, ofReservation));
  }

  private static int percent(BigDecimal part, BigDecimal whole) {
    return part.multiply(BigDecimal.valueOf(100))
        .divide(whole, 0, RoundingMode.HALF_EVEN)
        .min(BigDecimal.valueOf(1_000_000))
        .intValue();
  }

  /** {@code the last 24 like this ended between -12 % and +4 % of their expected cost}. */
  public String sentence() {
    String what = ofReservation ? "reservation" : "expected cost";
    return runs == 1
        ? "the last one like this ended at " + signed(lowPercent) + " % of its " + what
        : "the last "
            + runs
            + " like this ended between "
            + signed(lowPercent)
            + " % and "
            + signed(highPercent)
            + " % of their "
            + what;
  }

  private String signed(int percent) {
    return percent > 0 && !ofReservation ? "+" + percent : "" + percent;
  }

  JsonObject toJson() {
    return new JsonObject()
        .with("runs", runs)
        .with("low_percent", lowPercent)
        .with("high_percent", highPercent)
        .with("of", ofReservation ? "reservation" : "expected")
        .with("sentence", sentence());
  }
}
