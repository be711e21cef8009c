package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.records.approvals.Grant;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.Workspace;
import java.util.function.Supplier;

/**
 * A run that runs some of its tasks again. It is settled at its own rates, but the policy's limits
 * apply at today's rates too.
 *
 * @param whole the proposal of the whole run, as it was approved
 * @param today the estimate of the tasks at today's prices
 * @param money what the run has cost, and what its open tasks can cost; read only for a rerun that
 *     needs an approval
 */
public record Rerun(RunFolder run, Proposal whole, Estimate today, Supplier<RunMoney> money) {
  /**
   * Checks that an approval pins the run's own rates, and that the rerun at today's prices is
   * within it, whatever the run's own rates are.
   *
   * @param own the estimate of the tasks at the run's own rates
   */
  void requireWithin(Approved approved, Estimate own, Workspace workspace) {
    if (!approved.estimate().rates().equals(own.rates())) {
      throw ErrorCode.NEEDS_APPROVAL.error(
          "the rates of %s differ from the approved rates, and it is settled at its own"
              .formatted(run.id()),
          "approve the estimate of this rerun: " + workspace.estimate(own.configDigest()));
    }
    Grant grant = approved.grant();
    Money limit = grant.approval().maxCost();
    if (!limit.currency().equals(today.total().currency()) || today.total().compareTo(limit) > 0) {
      throw ErrorCode.NEEDS_APPROVAL.error(
          "at today's prices this rerun of %s can cost %s, and %s allows at most %s"
              .formatted(run.id(), today.total(), grant.file().name(), limit),
          Advice.command(
              "makes a new run of all its tasks at today's prices",
              "nexa-slurm",
              "rerun",
              run.id()));
    }
  }
}
