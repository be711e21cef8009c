package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.MonthRange;
import dev.nexa.slurm.money.ledger.CostKind;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Bills and API usage, added up by run and currency. Sums are exact and rounded once. */
public final class Charges {
  private static final int MILLION_DIGITS = 6;

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
    return rounded(billed.getOrDefault(runId, Map.of()));
  }

  /**
   * Returns the cost of the run's imported API usage that its own cost does not have, by currency;
   * empty if there is none.
   *
   * <p>A run with API tokens in its cost has counted them itself. For such a run, only the imported
   * cost beyond that counts: nothing if it has no more tokens, and nothing in another currency.
   */
  public Map<String, BigDecimal> api(LedgerLine run) {
    Map<String, BigDecimal> imported = rounded(api.getOrDefault(run.runId(), Map.of()));
    BigDecimal counted = run.tokensCost();
    if (counted == null || imported.isEmpty()) {
      return imported;
    }
    BigDecimal amount = imported.get(run.currency());
    BigDecimal beyond = amount == null ? BigDecimal.ZERO : amount.subtract(counted);
    return beyond.signum() > 0 && tokensBeyond(run).signum() > 0
        ? Map.of(Objects.requireNonNull(run.currency()), beyond)
        : Map.of();
  }

  /** Returns the imported tokens of the run minus the tokens that its cost has. */
  private BigDecimal tokensBeyond(LedgerLine run) {
    BigDecimal tokens =
        rowsOf(run.runId()).stream()
            .filter(row -> row.currency().equals(run.currency()))
            .map(row -> row.tokens().orElse(BigDecimal.ZERO))
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    BigDecimal millions = run.quantities().get(CostKind.API_TOKENS);
    return millions == null ? tokens : tokens.subtract(millions.movePointRight(MILLION_DIGITS));
  }

  private static Map<String, BigDecimal> rounded(Map<String, BigDecimal> sums) {
    Map<String, BigDecimal> rounded = new TreeMap<>();
    sums.forEach(
        (currency, sum) -> rounded.put(currency, new Money(sum, currency).rounded().amount()));
    return rounded;
  }

  /** Returns whether no row was added. */
  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /**
   * Returns the rows of the API usage that {@link #api(LedgerLine)} counts, in the order they were
   * added. If the run has API tokens in its cost, there is one row for the difference.
   */
  public List<BillRow> apiRows(LedgerLine run) {
    List<BillRow> own = rowsOf(run.runId());
    if (own.isEmpty() || run.tokensCost() == null) {
      return own;
    }
    List<BillRow> beyond = new ArrayList<>();
    api(run)
        .forEach(
            (currency, amount) ->
                beyond.add(
                    new BillRow(
                        run.runId() + "-beyond",
                        run.runId(),
                        BillRow.API,
                        own.get(own.size() - 1).start(),
                        "imported API usage beyond the cost file",
                        amount,
                        currency,
                        false,
                        Optional.of(tokensBeyond(run)),
                        Optional.empty())));
    return beyond;
  }

  private List<BillRow> rowsOf(String runId) {
    Stream<BillRow> all = api.containsKey(runId) ? rows.stream() : Stream.empty();
    return all.filter(row -> row.isApi() && row.runId().equals(runId)).toList();
  }

  /**
   * Returns the amounts that belong to none of these runs, by currency.
   *
   * @param runs the ids of all runs that have ended
   * @param months the months of the rows; empty for the rows of all months
   */
  public Map<String, BigDecimal> unmatched(Set<String> runs, Optional<MonthRange> months) {
    Map<String, BigDecimal> sums = new TreeMap<>();
    Set<String> others = new HashSet<>(billed.keySet());
    others.addAll(api.keySet());
    others.removeAll(runs);
    rows.stream()
        .filter(row -> months.isEmpty() || months.get().contains(row.period()))
        .filter(row -> others.contains(row.runId()))
        .forEach(row -> sums.merge(row.currency(), row.amount(), BigDecimal::add));
    return rounded(sums);
  }
}
