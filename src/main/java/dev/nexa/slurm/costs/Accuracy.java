package dev.nexa.slurm.costs;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How good estimates have been: the cost of what was held against the reservation, which it should
 * never exceed, and against what was expected, where something was. Only of runs that completed:
 * one that failed early says nothing about an estimate.
 */
public final class Accuracy {
  private static final int DECIMALS = 4;

  private final GroupBy by;
  private final Where where;
  private final Map<List<String>, Group> groups = new HashMap<>();

  public Accuracy(GroupBy by, Where where) {
    this.by = by;
    this.where = where;
  }

  public GroupBy by() {
    return by;
  }

  /** Adds a run, if it is meant and completed. */
  public void add(RunLine run) {
    BigDecimal cost = run.computeCost();
    BigDecimal reservation = run.reservation();
    String currency = run.currency();
    if (!run.completed()
        || cost == null
        || reservation == null
        || currency == null
        || !where.accepts(run)) {
      return;
    }
    for (List<String> key : by.keys(run)) {
      List<String> whole = new ArrayList<>(key);
      whole.add(currency);
      groups
          .computeIfAbsent(whole, words -> new Group(key, currency))
          .add(cost, reservation, Optional.ofNullable(run.expected()));
    }
  }

  /** By currency and key. */
  public List<Group> groups() {
    List<Group> all = new ArrayList<>(groups.values());
    all.sort(
        Comparator.comparing(Group::currency)
            .thenComparing(group -> String.join("\n", group.key())));
    return all;
  }

  /** Runs that are alike, in one currency. */
  public static final class Group {
    private final List<String> key;
    private final String currency;
    private final Percentiles<BigDecimal> ofReservation = new Percentiles<>();
    private final Percentiles<BigDecimal> errors = new Percentiles<>();
    private int over;
    private BigDecimal cost = BigDecimal.ZERO;
    private BigDecimal reservation = BigDecimal.ZERO;
    private BigDecimal expected = BigDecimal.ZERO;
    private BigDecimal costOfExpected = BigDecimal.ZERO;

    private Group(List<String> key, String currency) {
      this.key = key;
      this.currency = currency;
    }

    private void add(BigDecimal actual, BigDecimal reserved, Optional<BigDecimal> likely) {
      cost = cost.add(actual);
      reservation = reservation.add(reserved);
      over += actual.compareTo(reserved) > 0 ? 1 : 0;
      if (reserved.signum() > 0) {
        ofReservation.add(actual.divide(reserved, DECIMALS, RoundingMode.HALF_EVEN));
      }
      if (likely.isPresent() && likely.get().signum() > 0) {
        expected = expected.add(likely.get());
        costOfExpected = costOfExpected.add(actual);
        errors.add(
            actual
                .subtract(likely.get())
                .abs()
                .divide(likely.get(), DECIMALS, RoundingMode.HALF_EVEN));
      }
    }

    public List<String> key() {
      return key;
    }

    public String currency() {
      return currency;
    }

    /** Runs whose reservation was more than nothing. */
    public int runs() {
      return ofReservation.count();
    }

    /** Runs that cost more than was reserved: there should be none. */
    public int over() {
      return over;
    }

    public BigDecimal cost() {
      return cost;
    }

    public BigDecimal reservation() {
      return reservation;
    }

    /** Actual over reservation, of the run in the middle or at 90 of a hundred. */
    public Optional<BigDecimal> ofReservation(int percent) {
      return ofReservation.of(percent);
    }

    /** Runs of which an expected cost was told. */
    public int expectedRuns() {
      return errors.count();
    }

    public BigDecimal expected() {
      return expected;
    }

    /** What those runs did cost over what was expected of them: over 1, they were dearer. */
    public Optional<BigDecimal> ofExpected() {
      return expected.signum() == 0
          ? Optional.empty()
          : Optional.of(costOfExpected.divide(expected, DECIMALS, RoundingMode.HALF_EVEN));
    }

    /** How far off a run was, either way, as a part of what was expected. */
    public Optional<BigDecimal> error(int percent) {
      return errors.of(percent);
    }
  }
}
