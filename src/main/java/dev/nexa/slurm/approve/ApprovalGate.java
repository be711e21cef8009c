package dev.nexa.slurm.approve;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Estimate;

/** Whether an estimate may go to the scheduler as it is. */
public final class ApprovalGate {
  private ApprovalGate() {}

  /** Whether the run can cost more than the policy lets through unasked. */
  public static boolean needsApproval(Estimate estimate, Policy policy) {
    if (!estimate.total().currency().equals(policy.approvalOver().currency())) {
      throw new NexaException(
          ExitCode.USAGE,
          "the policy's threshold is in "
              + policy.approvalOver().currency()
              + " ("
              + policy.name()
              + ") but the price book '"
              + estimate.rates().book()
              + "' is in "
              + estimate.total().currency(),
          "give both the same currency");
    }
    return estimate.total().compareTo(policy.approvalOver()) > 0;
  }
}
