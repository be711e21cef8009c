package dev.nexa.slurm.costs;

import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What finished runs cost, added up in groups. Amounts of different currencies are never added: a
 * group is one for each currency.
 */
public final class CostSummary {
  /** What stands for the currency of a line that has none. */
  private static final String NO_CURRENCY = "-";

  private final GroupBy by;
  private final Where where;
  private final Charges charges;
  private final Map<String, Map<List<String>, Group>> groups = new HashMap<>();
  private final Map<String, Group> totals = new HashMap<>();
  private final Set<String> known = new HashSet<>();

  public CostSummary(GroupBy by, Where where, Charges charges) {
    this.by = by;
    this.where = where;
    this.charges = charges;
  }

  /** Adds a run, if it is meant. */
  public void add(RunLine run) {
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
    for (List<String> key : keys) {
      group(key, currency).add(sums);
    }
    total(currency).add(sums);
    if (!charges.isEmpty()) {
      addCharges(run.runId(), keys);
    }
  }

  private void addCharges(String runId, List<List<String>> keys) {
    charges
        .billed(runId)
        .forEach(
            (currency, amount) -> {
              keys.forEach(key -> group(key, currency).addBilled(amount));
              total(currency).addBilled(amount);
            });
    charges
        .api(runId)
        .forEach(
            (currency, amount) -> {
              keys.forEach(key -> group(key, currency).addApi(amount));
              total(currency).addApi(amount);
            });
  }

  private Group group(List<String> key, String currency) {
    return groups
        .computeIfAbsent(currency, one -> new HashMap<>())
        .computeIfAbsent(key, words -> new Group(words, currency));
  }

  private Group total(String currency) {
    return totals.computeIfAbsent(currency, one -> new Group(List.of(), one));
  }

  public GroupBy by() {
    return by;
  }

  /** By currency, then the dearest first; months in their order. */
  public List<Group> groups() {
    List<Group> all = new ArrayList<>();
    groups.values().forEach(ofCurrency -> all.addAll(ofCurrency.values()));
    Comparator<Group> within =
        by.words().get(0).equals(Field.MONTH.word())
            ? Comparator.comparing(group -> String.join("\n", group.key()))
            : Comparator.comparing(Group::total)
                .reversed()
                .thenComparing(group -> String.join("\n", group.key()));
    all.sort(Comparator.comparing(Group::currency).thenComparing(within));
    return all;
  }

  /** All that is meant, one for each currency. */
  public List<Group> totals() {
    List<Group> all = new ArrayList<>(totals.values());
    all.sort(Comparator.comparing(Group::currency));
    return all;
  }

  /** By currency, bills that name no run of the ledger. */
  public Map<String, BigDecimal> unmatched() {
    return charges.unmatched(known);
  }

  /** What a run adds to its groups and to the total: made once of its line. */
  private record Sums(
      int failed,
      long gpuSeconds,
      long cpuSeconds,
      BigDecimal cost,
      BigDecimal wasted,
      BigDecimal credit,
      Map<Kind, BigDecimal> amounts) {

    static Sums of(RunLine run) {
      return new Sums(
          run.completed() ? 0 : 1,
          orZero(run.gpuSeconds()),
          orZero(run.whole(Key.CPU_SECONDS)),
          orZero(run.cost()),
          orZero(run.wasted()),
          orZero(run.credit()),
          run.amounts());
    }

    private static long orZero(@Nullable Long number) {
      return number == null ? 0 : number;
    }

    private static BigDecimal orZero(@Nullable BigDecimal number) {
      return number == null ? BigDecimal.ZERO : number;
    }
  }

  /** Runs that are alike, in one currency. */
  public static final class Group {
    private final List<String> key;
    private final String currency;
    private final Map<Kind, BigDecimal> breakdown = new EnumMap<>(Kind.class);
    private int runs;
    private int failed;
    private long gpuSeconds;
    private long cpuSeconds;
    private BigDecimal cost;
    private BigDecimal wasted;
    private BigDecimal credit;
    private BigDecimal api;
    private BigDecimal billed;

    private Group(List<String> key, String currency) {
      this.key = key;
      this.currency = currency;
      BigDecimal zero = Money.zero(currency).amount();
      cost = zero;
      wasted = zero;
      credit = zero;
      api = zero;
      billed = zero;
    }

    private void add(Sums run) {
      runs++;
      failed += run.failed;
      gpuSeconds += run.gpuSeconds;
      cpuSeconds += run.cpuSeconds;
      cost = cost.add(run.cost);
      wasted = wasted.add(run.wasted);
      credit = credit.add(run.credit);
      for (Map.Entry<Kind, BigDecimal> amount : run.amounts.entrySet()) {
        BigDecimal before = breakdown.get(amount.getKey());
        breakdown.put(
            amount.getKey(), before == null ? amount.getValue() : before.add(amount.getValue()));
      }
    }

    private void addApi(BigDecimal amount) {
      api = api.add(amount);
    }

    private void addBilled(BigDecimal amount) {
      billed = billed.add(amount);
    }

    /** A word for each that is grouped by. */
    public List<String> key() {
      return key;
    }

    public String currency() {
      return currency;
    }

    public int runs() {
      return runs;
    }

    public int failed() {
      return failed;
    }

    public long gpuSeconds() {
      return gpuSeconds;
    }

    public long cpuSeconds() {
      return cpuSeconds;
    }

    /** By the price book. */
    public BigDecimal cost() {
      return cost;
    }

    /** The cost by what it is for; of lines that tell it. */
    public Map<Kind, BigDecimal> breakdown() {
      return breakdown;
    }

    /** One part of it. */
    public BigDecimal part(Kind kind) {
      return breakdown.getOrDefault(kind, Money.zero(currency).amount());
    }

    public BigDecimal wasted() {
      return wasted;
    }

    public BigDecimal credit() {
      return credit;
    }

    /** Of tokens, beside the cost. */
    public BigDecimal api() {
      return api;
    }

    /** What providers billed for it: another witness of the cost, and no part of it. */
    public BigDecimal billed() {
      return billed;
    }

    /** The cost without credits, and the API usage. */
    public BigDecimal total() {
      return cost.subtract(credit).add(api);
    }
  }
}
