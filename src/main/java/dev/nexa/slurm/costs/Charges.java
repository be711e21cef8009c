package dev.nexa.slurm.costs;

import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What others charged for runs: bills and API usage, added up exactly for each run and currency,
 * and rounded once.
 */
public final class Charges {
  private final Map<String, Map<String, BigDecimal>> billed = new HashMap<>();
  private final Map<String, Map<String, BigDecimal>> api = new HashMap<>();
  private final List<BillRow> rows = new ArrayList<>();

  /** Adds a row of a bill. */
  public void add(BillRow row) {
    rows.add(row);
    Map<String, Map<String, BigDecimal>> sums = row.isApi() ? api : billed;
    sums.computeIfAbsent(row.runId(), run -> new TreeMap<>())
        .merge(row.currency(), row.amount(), BigDecimal::add);
  }

  /** By currency, what providers billed for the run. */
  Map<String, BigDecimal> billed(String runId) {
    return rounded(billed.get(runId));
  }

  /** By currency, what the run's API usage costs. */
  Map<String, BigDecimal> api(String runId) {
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

  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /** The API usage of a run, row by row. */
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
   * By currency, what belongs to none of these runs.
   *
   * @param runs all that have ended
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
