package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares our reading of AllocTRES with Slurm's own number in it, {@code billing=}. Reads no file.
 */
public final class BillingCheck {
  private BillingCheck() {}

  /**
   * Returns a sentence for each difference, in alphabetical order.
   *
   * @param weights the weights of the partitions; an unknown partition is not checked
   */
  public static Set<String> disagreements(
      List<AccountingRecord> attempts, Map<String, BillingWeights> weights) {
    Set<String> told = new TreeSet<>();
    if (weights.isEmpty()) {
      return told;
    }
    // Each allocation is checked once, because thousands of attempts hold the same.
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
