package dev.nexa.slurm.money.closing;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The sums of all statements of closed months, for each run. */
public final class Booked {
  private final Map<String, Map<Key, Amounts>> runs = new HashMap<>();
  private final Map<String, BigDecimal> unmatched = new TreeMap<>();

  /** The payer and the currency of an amount. */
  record Key(Payer payer, String currency) {}

  /** Adds a statement. */
  public void add(Statement statement) {
    for (Posting posting : statement.postings()) {
      runs.computeIfAbsent(posting.runId(), run -> new LinkedHashMap<>())
          .merge(new Key(posting.payer(), posting.currency()), posting.amounts(), Amounts::plus);
    }
    Map<String, BigDecimal> rest = statement.unmatched();
    rest.forEach((currency, amount) -> unmatched.merge(currency, amount, BigDecimal::add));
  }

  /** Returns the ids of all runs. */
  Set<String> runs() {
    return runs.keySet();
  }

  /** Returns the amounts of a run; empty if no statement has it. */
  Optional<Map<Key, Amounts>> of(String runId) {
    return Optional.ofNullable(runs.get(runId));
  }

  /** Returns the billed amounts that belong to no run, by currency. */
  Map<String, BigDecimal> unmatched() {
    return unmatched;
  }
}
