package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.units.BillingWeights;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Our reading of AllocTRES against Slurm's own figure of it, {@code billing=}. Pure. */
final class Billing {
  private Billing() {}

  /**
   * Where they differ, a sentence for each allocation of another kind.
   *
   * @param weights of the partitions; one that is not known is not checked
   */
  static Set<String> disagreements(
      List<AccountingRecord> attempts, Map<String, BillingWeights> weights) {
    Set<String> told = new TreeSet<>();
    if (weights.isEmpty()) {
      return told;
    }
    // Thousands of attempts hold the same.
    Map<String, Set<String>> checked = new HashMap<>();
    for (AccountingRecord row : attempts) {
      BillingWeights own = weights.get(row.partition());
      if (own != null
          && checked
              .computeIfAbsent(row.partition(), partition -> new HashSet<>())
              .add(row.allocTres())) {
        own.disagreement(row.allocTres()).ifPresent(told::add);
      }
    }
    return told;
  }
}
