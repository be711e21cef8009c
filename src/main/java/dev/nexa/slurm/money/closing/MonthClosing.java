package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.units.MonthRange;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.ledger.CostKind;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Makes a month's statement from the newest ledger line of each run.
 *
 * <p>The amounts of closed months never change. For a run of a closed month, an adjustment holds
 * its present amounts minus its amounts in the earlier statements. So all statements together
 * always hold the amounts that the ledger holds.
 */
public final class MonthClosing {
  /** Stands for the currency of a run that has none. */
  private static final String NO_CURRENCY = "-";

  private final YearMonth month;
  private final YearMonth begin;
  private final Booked booked;
  private final Charges charges;
  private final Function<LedgerLine, Posting.Proof> proof;
  private final List<Posting> runs = new ArrayList<>();
  private final List<Posting> adjustments = new ArrayList<>();
  private final Set<String> seen = new HashSet<>();

  /**
   * Begins a statement.
   *
   * @param begin the first month that was ever closed
   * @param booked the sums of the statements of all months before
   * @param charges the bills and API usage of the runs
   * @param proof reads the files behind a run's line
   */
  public MonthClosing(
      YearMonth month,
      YearMonth begin,
      Booked booked,
      Charges charges,
      Function<LedgerLine, Posting.Proof> proof) {
    this.month = month;
    this.begin = begin;
    this.booked = booked;
    this.charges = charges;
    this.proof = proof;
  }

  /** Adds a run, by its newest line. */
  public void add(LedgerLine run) {
    seen.add(run.runId());
    YearMonth ended = YearMonth.parse(run.month());
    Optional<Map<Booked.Key, Amounts>> before = booked.of(run.runId());
    // A run that moved to a later month is adjusted when that month is closed.
    if (ended.isAfter(month) || (ended.isBefore(begin) && before.isEmpty())) {
      return;
    }
    Map<Booked.Key, Amounts> now = amounts(run);
    if (before.isEmpty() && ended.equals(month)) {
      Posting.Proof files = proof.apply(run);
      now.forEach((key, amounts) -> runs.add(posting(run, key, amounts, files, Optional.empty())));
    } else {
      adjust(run, before.orElse(Map.of()), now);
    }
  }

  private void adjust(
      LedgerLine run, Map<Booked.Key, Amounts> before, Map<Booked.Key, Amounts> now) {
    Map<Booked.Key, Amounts> changes = new LinkedHashMap<>(now);
    before.forEach(
        (key, amounts) ->
            changes.merge(key, Amounts.zero(key.currency()).minus(amounts), Amounts::plus));
    changes.values().removeIf(Amounts::isZero);
    if (!changes.isEmpty()) {
      Posting.Proof files = proof.apply(run);
      Optional<Posting.Reason> reason =
          Optional.of(before.isEmpty() ? Posting.Reason.LATE : Posting.Reason.CHANGED);
      changes.forEach((key, amounts) -> adjustments.add(posting(run, key, amounts, files, reason)));
    }
  }

  /** Returns the present amounts of a run. Its own currency comes first. */
  private Map<Booked.Key, Amounts> amounts(LedgerLine run) {
    Payer payer = Payer.of(run);
    String own = run.currency() == null ? NO_CURRENCY : run.currency();
    Map<String, BigDecimal> api = charges.api(run);
    Map<String, BigDecimal> billed = charges.billed(run.runId());
    Set<String> others = new TreeSet<>(api.keySet());
    others.addAll(billed.keySet());
    Set<String> currencies = new LinkedHashSet<>(List.of(own));
    currencies.addAll(others);
    Map<Booked.Key, Amounts> now = new LinkedHashMap<>();
    for (String currency : currencies) {
      Amounts zero = Amounts.zero(currency);
      boolean main = currency.equals(own);
      now.put(
          new Booked.Key(payer, currency),
          zero.plus(
              new Amounts(
                  main && run.cost() != null ? run.cost() : BigDecimal.ZERO,
                  main && run.credit() != null ? run.credit() : BigDecimal.ZERO,
                  api.getOrDefault(currency, BigDecimal.ZERO),
                  billed.getOrDefault(currency, BigDecimal.ZERO))));
    }
    return now;
  }

  private static Posting posting(
      LedgerLine run,
      Booked.Key key,
      Amounts amounts,
      Posting.Proof files,
      Optional<Posting.Reason> reason) {
    boolean main = key.currency().equals(run.currency());
    Long seconds = run.gpuSeconds();
    Posting.Held held =
        // A change of amounts is no further use of a GPU.
        reason.equals(Optional.of(Posting.Reason.CHANGED))
            ? Posting.Held.nothing()
            : new Posting.Held(
                Optional.ofNullable(run.cluster()),
                Optional.ofNullable(run.gpuType()),
                main && seconds != null ? seconds : 0,
                main ? run.amounts().getOrDefault(CostKind.GPU, BigDecimal.ZERO) : BigDecimal.ZERO);
    return new Posting(
        run.runId(),
        reason,
        run.month(),
        run.version(),
        key.payer(),
        key.currency(),
        amounts,
        held,
        files);
  }

  /** Returns the runs of closed months that have no line in the ledger any more. */
  public List<String> missing() {
    Set<String> missing = new TreeSet<>(booked.runs());
    missing.removeAll(seen);
    return List.copyOf(missing);
  }

  /**
   * Returns the statement.
   *
   * @param previous the SHA-256 of the statement of the month before
   */
  public Statement statement(
      Optional<String> previous,
      List<BudgetShare> budgets,
      List<Capacity> capacity,
      List<Statement.Unfinished> unfinished) {
    Comparator<Posting> order =
        Comparator.comparing(Posting::runId)
            .thenComparing(Posting::currency)
            .thenComparing(posting -> posting.amounts().total());
    runs.sort(order);
    adjustments.sort(order);
    List<Posting> held = Stream.concat(runs.stream(), adjustments.stream()).toList();
    return new Statement(
        month,
        begin,
        previous,
        List.copyOf(runs),
        List.copyOf(adjustments),
        budgets,
        capacity.stream().map(row -> row.priced(month, held)).toList(),
        unmatched(),
        unfinished);
  }

  private Map<String, BigDecimal> unmatched() {
    Map<String, BigDecimal> now =
        new TreeMap<>(charges.unmatched(seen, Optional.of(new MonthRange(begin, month))));
    Map<String, BigDecimal> earlier = booked.unmatched();
    earlier.forEach((currency, amount) -> now.merge(currency, amount.negate(), BigDecimal::add));
    now.values().removeIf(amount -> amount.signum() == 0);
    return now;
  }
}
