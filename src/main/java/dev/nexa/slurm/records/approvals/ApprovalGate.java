package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.estimate.Estimate;
import java.util.List;

/** Decides whether an estimate needs an approval. */
public final class ApprovalGate {
  private ApprovalGate() {}

  /**
   * Returns whether the run's highest cost is above the policy's limit for runs without an
   * approval.
   *
   * @throws NexaException if the policy and the price book have different currencies
   */
  public static boolean needsApproval(Estimate estimate, Policy policy) {
    if (!estimate.total().currency().equals(policy.approvalOver().currency())) {
      throw ErrorCode.CURRENCY_MISMATCH.error(
          "the policy's threshold is in %s (%s) but the price book '%s' is in %s"
              .formatted(
                  policy.approvalOver().currency(),
                  policy.name(),
                  estimate.rates().book(),
                  estimate.total().currency()),
          "give both the same currency");
    }
    return estimate.total().compareTo(policy.approvalOver()) > 0;
  }

  /**
   * Returns whether several runs together can cost more than the policy's limit for runs without an
   * approval.
   *
   * @param runs the estimates, in one currency; at least one
   * @throws NexaException as {@link #needsApproval(Estimate, Policy)} does
   */
  public static boolean needsApproval(List<Estimate> runs, Policy policy) {
    // One run alone is compared first: the message names its price book if the currencies differ.
    return needsApproval(runs.get(0), policy)
        || runs.stream()
                .map(Estimate::total)
                .reduce(Money::plus)
                .orElseThrow()
                .compareTo(policy.approvalOver())
            > 0;
  }
}
