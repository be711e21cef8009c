package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Measures how good estimates were. It compares the compute cost of completed runs with the
 * reservation, which it should never exceed, and with the expected cost, if the estimate had one.
 * Failed runs are left out, because an early failure says nothing about the estimate.
 */
public final class Accuracy {
  private static final int DECIMALS = 4;

  private final GroupBy by;
  private final RunFilter where;
  private final Map<List<String>, Group> groups = new HashMap<>();

  /** Creates an empty measurement of the runs that the filter accepts. */
  public Accuracy(GroupBy by, RunFilter where) {
    this.by = by;
    this.where = where;
  }

  /** Returns the grouping. */
  public GroupBy by() {
    return by;
  }

  /** Adds a run if the filter accepts it, it completed, and its cost and reservation are known. */
  public void add(LedgerLine run) {
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
      List<String> whole = Stream.concat(key.stream(), Stream.of(currency)).toList();
      groups
          .computeIfAbsent(whole, words -> new Group(key, currency))
          .add(cost, reservation, Optional.ofNullable(run.decimal(LedgerKey.EXPECTED)));
    }
  }

  /** Returns the groups by currency and key. */
  public List<Group> groups() {
    Comparator<Group> byCurrency = Comparator.comparing(Group::currency);
    return groups.values().stream()
        .sorted(byCurrency.thenComparing(group -> String.join("\n", group.key())))
        .toList();
  }

  /** The runs of one group in one currency. */
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
        BigDecimal error = actual.subtract(likely.get()).abs();
        errors.add(error.divide(likely.get(), DECIMALS, RoundingMode.HALF_EVEN));
      }
    }

    /** Returns the group's value for each word of {@link Accuracy#by}. */
    public List<String> key() {
      return key;
    }

    /** Returns the currency, an ISO 4217 code. */
    public String currency() {
      return currency;
    }

    /** Returns the number of runs with a reservation above 0. */
    public int runs() {
      return ofReservation.count();
    }

    /** Returns the number of runs that cost more than their reservation; it should be 0. */
    public int over() {
      return over;
    }

    /** Returns the compute cost of all runs. */
    public BigDecimal cost() {
      return cost;
    }

    /** Returns the reservations of all runs. */
    public BigDecimal reservation() {
      return reservation;
    }

    /**
     * Returns a percentile of cost divided by reservation; empty if there are no runs.
     *
     * @param percent 50 for the median, 90 for P90
     */
    public Optional<BigDecimal> ofReservation(int percent) {
      return ofReservation.of(percent);
    }

    /** Returns the number of runs with an expected cost. */
    public int expectedRuns() {
      return errors.count();
    }

    /** Returns the sum of the expected costs. */
    public BigDecimal expected() {
      return expected;
    }

    /**
     * Returns the cost of the runs with an expected cost, minus these expected costs: negative if
     * they cost less.
     */
    public BigDecimal beyondExpected() {
      return costOfExpected.subtract(expected);
    }

    /**
     * Returns the cost of the runs with an expected cost, divided by the expected costs. Above 1,
     * they cost more than expected. Empty if no run has one.
     */
    public Optional<BigDecimal> ofExpected() {
      return expected.signum() == 0
          ? Optional.empty()
          : Optional.of(costOfExpected.divide(expected, DECIMALS, RoundingMode.HALF_EVEN));
    }

    /**
     * Returns a percentile of the absolute error of a run's expected cost, as a share of that
     * expected cost; empty if no run has one.
     */
    public Optional<BigDecimal> error(int percent) {
      return errors.of(percent);
    }
  }
}
