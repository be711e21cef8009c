package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.approvals.ApprovalGate;
import dev.nexa.slurm.records.approvals.Grant;
import dev.nexa.slurm.records.approvals.PipelineEstimateFile;
import dev.nexa.slurm.records.approvals.PipelineProposal;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.run.Context;
import java.util.List;
import java.util.Optional;

/**
 * The permission to submit several runs together: room in the budgets for their sum, and one
 * approval if the policy requires it.
 *
 * <p>It holds the budgets' lock until it is closed. Close it when all reservations are on disk.
 */
public final class ClearanceOfAll implements AutoCloseable {
  private final BudgetGate.Together budgets;
  private final Optional<Approved> approved;
  private final PipelineProposal proposal;

  private ClearanceOfAll(
      BudgetGate.Together budgets, Optional<Approved> approved, PipelineProposal proposal) {
    this.budgets = budgets;
    this.approved = approved;
    this.proposal = proposal;
  }

  /**
   * One of the runs.
   *
   * @param stage the run's name in messages
   * @param plan the content of plan.json; gets {@code charged_account}
   * @param estimate the estimate as an approver reads it
   */
  public record Asked(String stage, Proposal proposal, PlanFile plan, EstimateFile estimate) {}

  /**
   * Clears the runs and takes a use of their approval. Call this after all other checks.
   *
   * @param config the pipeline's path for people
   * @param asked the runs, priced in one currency; at least one
   * @param named the approval's file; if empty, it is searched in the policy's folder
   * @throws dev.nexa.slurm.base.error.NexaException if the runs need an approval and have none
   */
  public static ClearanceOfAll of(
      Context context, Policy policy, String config, List<Asked> asked, Optional<String> named) {
    List<PipelineProposal.Stage> stages =
        asked.stream().map(one -> new PipelineProposal.Stage(one.stage(), one.proposal())).toList();
    PipelineProposal proposal = PipelineProposal.of(config, stages);
    BudgetGate.Together budgets =
        BudgetGate.enter(context, policy, asked.stream().map(Asked::plan).toList());
    try {
      Optional<Approved> approved = Optional.empty();
      if (named.isPresent() || isNeeded(policy, proposal, budgets)) {
        RequireApproval required =
            new RequireApproval(
                context,
                policy,
                proposal,
                PipelineEstimateFile.of(proposal, asked.stream().map(Asked::estimate).toList())
                    .json(),
                asked.stream().flatMap(one -> one.estimate().warnings().stream()).toList(),
                pinned -> budgets.over(((PipelineProposal) pinned).totals()));
        approved = Optional.of(required.claim(named));
      }
      return new ClearanceOfAll(
          budgets,
          approved,
          approved.isPresent() ? (PipelineProposal) approved.get().asked() : proposal);
    } catch (RuntimeException refused) {
      budgets.close();
      throw refused;
    }
  }

  private static boolean isNeeded(
      Policy policy, PipelineProposal proposal, BudgetGate.Together budgets) {
    // One run alone is compared first: the message names its price book if the currencies differ.
    return ApprovalGate.needsApproval(proposal.stages().get(0).proposal().estimate(), policy)
        || proposal.total().compareTo(policy.approvalOver()) > 0
        || !budgets.over(proposal.totals()).isEmpty();
  }

  /**
   * Returns the permission of one run.
   *
   * @param index its place in the list that was asked for
   */
  public Clearance of(int index) {
    return Clearance.ofOne(
        budgets.gates().get(index),
        approved.isPresent() ? Optional.of(approved.get().ofStage(index)) : Optional.empty(),
        proposal.stages().get(index).proposal().estimate());
  }

  /** Returns the approval and its use; empty if the runs need none. */
  public Optional<Grant> grant() {
    return approved.isPresent() ? Optional.of(approved.get().grant()) : Optional.empty();
  }

  /** Returns the most that all runs can cost. */
  public Money total() {
    return proposal.total();
  }

  /** Returns lines for the user about the budgets and the approval. */
  public List<String> notes() {
    List<String> notes = BudgetGate.warnings(budgets.claims(proposal.totals()));
    for (BudgetGate gate : budgets.gates()) {
      gate.notCounted().stream().filter(note -> !notes.contains(note)).forEach(notes::add);
    }
    approved.ifPresent(one -> notes.addAll(one.notes()));
    return notes;
  }

  /** Gives the approval's use back, because the runs were not made. */
  public void release() {
    grant().ifPresent(Grant::release);
  }

  @Override
  public void close() {
    budgets.close();
  }
}
