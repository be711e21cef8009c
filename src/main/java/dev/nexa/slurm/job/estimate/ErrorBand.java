package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Optional;

/**
 * How far the costs of past runs differed from their estimates.
 *
 * @param runs the number of past runs
 * @param lowPercent of the cheapest run: the difference from its expected cost (-12 means 12 %
 *     below), or its cost as a percentage of the reservation
 * @param highPercent of the most expensive run
 * @param ofReservation whether the runs had no expected cost and are compared with their
 *     reservations
 */
public record ErrorBand(int runs, int lowPercent, int highPercent, boolean ofReservation) {
  /** The most runs that count: older ones were estimated by other rules. */
  private static final int MOST = 24;

  /**
   * Returns the band of past runs, newest first; empty if none has an expected cost or a
   * reservation.
   */
  static Optional<ErrorBand> of(List<PastRun> past) {
    return of(past, false).or(() -> of(past, true));
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

  /**
   * Returns a sentence: {@code the last 24 like this ended between -12 % and +4 % of their expected
   * cost}.
   */
  public String sentence() {
    return ofReservation ? ofMaximum() : ofExpected();
  }

  private String ofMaximum() {
    String runsBefore =
        runs == 1 ? "the last similar run cost " : "the last " + runs + " similar runs cost ";
    String maximum = runs == 1 ? " of its maximum" : " of their maximum";
    if (highPercent == 0) {
      return runsBefore + "less than 1 %" + maximum;
    }
    String low = lowPercent == 0 ? "less than 1" : "" + lowPercent;
    return lowPercent == highPercent
        ? runsBefore + highPercent + " %" + maximum
        : runsBefore + "between " + low + " % and " + highPercent + " %" + maximum;
  }

  private String ofExpected() {
    String what = "expected cost";
    return runs == 1
        ? "the last one like this ended at " + signed(lowPercent) + " % of its " + what
        : "the last %s like this ended between %s %% and %s %% of their %s"
            .formatted(runs, signed(lowPercent), signed(highPercent), what);
  }

  private String signed(int percent) {
    return percent > 0 ? "+" + percent : "" + percent;
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
