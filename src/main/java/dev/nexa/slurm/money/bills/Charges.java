package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Bills and API usage, added up by run and currency. Sums are exact and rounded once. */
public final class Charges {
  private final Map<String, Map<String, BigDecimal>> billed = new HashMap<>();
  private final Map<String, Map<String, BigDecimal>> api = new HashMap<>();
  private final List<BillRow> rows = new ArrayList<>();

  /** Adds a row. */
  public void add(BillRow row) {
    rows.add(row);
    Map<String, Map<String, BigDecimal>> sums = row.isApi() ? api : billed;
    sums.computeIfAbsent(row.runId(), run -> new TreeMap<>())
        .merge(row.currency(), row.amount(), BigDecimal::add);
  }

  /**
   * Returns the amounts that providers billed for the run, by currency; empty if there are none.
   */
  public Map<String, BigDecimal> billed(String runId) {
    return rounded(billed.get(runId));
  }

  /** Returns the cost of the run's API usage, by currency; empty if there is none. */
  public Map<String, BigDecimal> api(String runId) {
    return rounded(api.get(runId));
  }

  private static Map<String, BigDecimal> rounded(
      @org.jspecify.annotations.Nullable Map<String, BigDecimal> sums) {
    if (sums == null) {
      return Map.of();
    }
    Map<String, BigDecimal> rounded = new TreeMap<>();
    sums.forEach(
        (currency, sum) -> rounded.put(currency, new Money(sum, currency).rounded().amount()));
    return rounded;
  }

  /** Returns whether no row was added. */
  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Returns the rows of a run's API usage, in the order they were added. */
  public List<BillRow> apiRows(String runId) {
    List<BillRow> own = new ArrayList<>();
    for (BillRow row : api.containsKey(runId) ? rows : List.<BillRow>of()) {
      if (row.isApi() && row.runId().equals(runId)) {
        own.add(row);
      }
    }
    return own;
  }

  /**
   * Returns the amounts that belong to none of these runs, by currency.
   *
   * @param runs the ids of all runs that have ended
   */
  public Map<String, BigDecimal> unmatched(Set<String> runs) {
    Map<String, BigDecimal> sums = new TreeMap<>();
    Set<String> others = new HashSet<>(billed.keySet());
    others.addAll(api.keySet());
    others.removeAll(runs);
    for (BillRow row : rows) {
      if (others.contains(row.runId())) {
        sums.merge(row.currency(), row.amount(), BigDecimal::add);
      }
    }
    return rounded(sums);
  }
}
