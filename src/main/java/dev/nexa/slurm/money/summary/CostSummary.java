package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.ledger.CostKind;
import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Adds up the cost of finished runs in groups. Amounts of different currencies are never added:
 * each currency has groups of its own.
 */
public final class CostSummary {
  /** Stands for the currency of a run that has none. */
  private static final String NO_CURRENCY = "-";

  private final GroupBy by;
  private final RunFilter where;
  private final Charges charges;
  private final Map<String, Map<List<String>, Group>> groups = new HashMap<>();
  private final Map<String, Group> totals = new HashMap<>();
  private final Set<String> known = new HashSet<>();
  private final Optional<GroupOrder> order;

  /**
   * Creates an empty summary.
   *
   * @param by the grouping
   * @param where selects the runs
   * @param charges the bills and API usage of the runs
   */
  public CostSummary(GroupBy by, RunFilter where, Charges charges) {
    this(by, where, charges, Optional.empty());
  }

  /**
   * Creates an empty summary with groups in another order.
   *
   * @param by the grouping
   * @param where selects the runs
   * @param charges the bills and API usage of the runs
   * @param order the order, and how many groups {@link #groups} returns; empty for all in the usual
   *     order
   */
  public CostSummary(GroupBy by, RunFilter where, Charges charges, Optional<GroupOrder> order) {
    this.order = order;
    this.by = by;
    this.where = where;
    this.charges = charges;
  }

  /** Adds a run if the filter accepts it. */
  public void add(LedgerLine run) {
    if (!charges.isEmpty()) {
      known.add(run.runId());
    }
    if (!where.accepts(run)) {
      return;
    }
    String own = run.currency();
    String currency = own == null ? NO_CURRENCY : own;
    Sums sums = Sums.of(run);
    List<List<String>> keys = by.keys(run);
    String name = by.words().contains(RunField.RUN.word()) ? RunField.EXPERIMENT.text(run) : null;
    for (List<String> key : keys) {
      Group group = group(key, currency);
      group.add(sums);
      group.name = name;
    }
    total(currency).add(sums);
    if (!charges.isEmpty()) {
      addCharges(run, keys);
    }
  }

  private void addCharges(LedgerLine run, List<List<String>> keys) {
    Map<String, BigDecimal> billed = charges.billed(run.runId());
    billed.forEach(
        (currency, amount) ->
            groupsAndTotal(keys, currency).forEach(one -> one.billed = one.billed.add(amount)));
    Map<String, BigDecimal> api = charges.api(run);
    api.forEach(
        (currency, amount) ->
            groupsAndTotal(keys, currency).forEach(one -> one.api = one.api.add(amount)));
  }

  private Stream<Group> groupsAndTotal(List<List<String>> keys, String currency) {
    return Stream.concat(
        keys.stream().map(key -> group(key, currency)), Stream.of(total(currency)));
  }

  private Group group(List<String> key, String currency) {
    return groups
        .computeIfAbsent(currency, one -> new HashMap<>())
        .computeIfAbsent(key, words -> new Group(words, currency));
  }

  private Group total(String currency) {
    return totals.computeIfAbsent(currency, one -> new Group(List.of(), one));
  }

  /** Returns the grouping. */
  public GroupBy by() {
    return by;
  }

  /**
   * Returns the groups of each currency, in the requested order and number. The usual order is by
   * falling total, or by month if months are grouped first.
   */
  public List<Group> groups() {
    Comparator<Group> byKey = Comparator.comparing(group -> String.join("\n", group.key()));
    Comparator<Group> usual =
        by.words().get(0).equals(RunField.MONTH.word())
            ? byKey
            : Comparator.comparing(Group::total).reversed().thenComparing(byKey);
    Comparator<Group> within = order.map(one -> one.comparator(by.words(), usual)).orElse(usual);
    int most = order.map(GroupOrder::most).orElse(Integer.MAX_VALUE);
    return new TreeMap<>(groups)
        .values().stream()
            .flatMap(own -> own.values().stream().sorted(within).limit(most))
            .toList();
  }

  /** Returns the number of groups that {@link #groups} leaves out. */
  public int leftOut() {
    return groups.values().stream().mapToInt(Map::size).sum() - groups().size();
  }

  /** Returns the total of each currency. */
  public List<Group> totals() {
    return totals.values().stream().sorted(Comparator.comparing(Group::currency)).toList();
  }

  /**
   * Returns the billed amounts that name no added run, by currency. If the filter asks for months,
   * only bills of these months count.
   */
  public Map<String, BigDecimal> unmatched() {
    return charges.unmatched(known, where.months());
  }

  /** The values of one run, computed once for all its groups and the total. */
  private record Sums(
      int failed,
      long gpuSeconds,
      long cpuSeconds,
      BigDecimal cost,
      BigDecimal wasted,
      BigDecimal credit,
      BigDecimal estimated,
      BigDecimal difference,
      int roundedAway,
      String month,
      Map<CostKind, BigDecimal> amounts) {

    static Sums of(LedgerLine run) {
      BigDecimal reserved = orZero(run.reservation());
      // An imported run had no estimate, so it has no difference from one.
      BigDecimal difference =
          reserved.signum() == 0 ? BigDecimal.ZERO : orZero(run.computeCost()).subtract(reserved);
      Map<CostKind, BigDecimal> amounts = run.amounts();
      return new Sums(
          run.completed() ? 0 : 1,
          orZero(run.gpuSeconds()),
          orZero(run.whole(LedgerKey.CPU_SECONDS)),
          orZero(run.cost()),
          orZero(run.decimal(LedgerKey.WASTED)),
          orZero(run.credit()),
          reserved,
          difference,
          roundedAway(amounts, run.quantities()),
          run.month(),
          amounts);
    }

    /** Returns the number of kinds that the run used, and whose cost is 0 because of rounding. */
    private static int roundedAway(
        Map<CostKind, BigDecimal> amounts, Map<CostKind, BigDecimal> quantities) {
      int count = 0;
      for (Map.Entry<CostKind, BigDecimal> amount : amounts.entrySet()) {
        BigDecimal quantity = quantities.get(amount.getKey());
        boolean used = quantity != null && quantity.signum() > 0;
        count += used && amount.getValue().signum() == 0 ? 1 : 0;
      }
      return count;
    }

    private static long orZero(@Nullable Long number) {
      return number == null ? 0 : number;
    }

    private static BigDecimal orZero(@Nullable BigDecimal number) {
      return number == null ? BigDecimal.ZERO : number;
    }
  }

  /** The runs of one group in one currency. */
  public static final class Group {
    private final List<String> key;
    private final String currency;
    private final Map<CostKind, BigDecimal> breakdown = new EnumMap<>(CostKind.class);
    private @Nullable String name;
    private int runs;
    private int failed;
    private long gpuSeconds;
    private long cpuSeconds;
    private BigDecimal cost;
    private BigDecimal wasted;
    private BigDecimal credit;
    private BigDecimal api;
    private BigDecimal billed;
    private BigDecimal estimated;
    private BigDecimal difference;
    private int roundedAway;
    private String first = "";
    private String last = "";

    private Group(List<String> key, String currency) {
      this.key = key;
      this.currency = currency;
      BigDecimal zero = Money.zero(currency).amount();
      cost = zero;
      wasted = zero;
      credit = zero;
      api = zero;
      billed = zero;
      estimated = zero;
      difference = zero;
    }

    private void add(Sums run) {
      runs++;
      failed += run.failed;
      gpuSeconds += run.gpuSeconds;
      cpuSeconds += run.cpuSeconds;
      cost = cost.add(run.cost);
      wasted = wasted.add(run.wasted);
      credit = credit.add(run.credit);
      estimated = estimated.add(run.estimated);
      difference = difference.add(run.difference);
      roundedAway += run.roundedAway;
      first = first.isEmpty() || run.month.compareTo(first) < 0 ? run.month : first;
      last = run.month.compareTo(last) > 0 ? run.month : last;
      run.amounts.forEach((kind, amount) -> breakdown.merge(kind, amount, BigDecimal::add));
    }

    /** Returns the group's value for each word of {@link CostSummary#by}; empty for a total. */
    public List<String> key() {
      return key;
    }

    /**
     * Returns the run's name, which is its experiment, in groups by run; null if it has none, or in
     * other groups.
     */
    public @Nullable String name() {
      return name;
    }

    /** Returns the currency, an ISO 4217 code; {@code -} for runs without one. */
    public String currency() {
      return currency;
    }

    /** Returns the number of runs. */
    public int runs() {
      return runs;
    }

    /** Returns the number of runs that did not complete. */
    public int failed() {
      return failed;
    }

    /** Returns the allocated GPU-seconds. */
    public long gpuSeconds() {
      return gpuSeconds;
    }

    /** Returns the allocated CPU-seconds. */
    public long cpuSeconds() {
      return cpuSeconds;
    }

    /** Returns the cost by the price book. */
    public BigDecimal cost() {
      return cost;
    }

    /** Returns the cost by kind, from the runs whose line has these amounts. */
    public Map<CostKind, BigDecimal> breakdown() {
      return breakdown;
    }

    /** Returns the cost of one kind; 0 if there is none. */
    public BigDecimal part(CostKind kind) {
      return breakdown.getOrDefault(kind, Money.zero(currency).amount());
    }

    /** Returns the cost of attempts that did not complete. */
    public BigDecimal wasted() {
      return wasted;
    }

    /** Returns the credits, as a positive amount. */
    public BigDecimal credit() {
      return credit;
    }

    /** Returns the cost of imported API usage, which {@link #cost} does not include. */
    public BigDecimal api() {
      return api;
    }

    /**
     * Returns what providers billed. It is a second measure of the cost and not part of {@link
     * #total}.
     */
    public BigDecimal billed() {
      return billed;
    }

    /** Returns what the runs could cost at most, by their estimates. */
    public BigDecimal estimated() {
      return estimated;
    }

    /**
     * Returns the cost minus {@link #estimated}: negative for money that was reserved and not
     * spent. Does not count runs without an estimate, nor storage, egress and energy: no money is
     * reserved for these.
     */
    public BigDecimal difference() {
      return difference;
    }

    /**
     * Returns how many amounts are 0 only because they were rounded: one for each run and kind. The
     * exact cost of a group is less than so many of the currency's smallest units above {@link
     * #cost}.
     */
    public int roundedAway() {
      return roundedAway;
    }

    /**
     * Returns the month of the runs, such as {@code 2025-11}; the first and the last month, such as
     * {@code 2025-10/2025-11}, if they differ; empty without runs.
     */
    public String period() {
      return first.equals(last) ? first : first + "/" + last;
    }

    /** Returns the cost minus credits, plus API usage. */
    public BigDecimal total() {
      return cost.subtract(credit).add(api);
    }
  }
}
