package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.records.approvals.ApprovalGate;
import dev.nexa.slurm.records.approvals.Grant;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The permission to submit a run: room in the budgets, and an approval if the policy requires one.
 *
 * <p>It holds the budgets' lock until it is closed. Close it when the run's reservation is on disk.
 */
public final class Clearance implements AutoCloseable {
  private final BudgetGate budgets;
  private final Optional<Approved> approved;
  private final Estimate estimate;

  private Clearance(BudgetGate budgets, Optional<Approved> approved, Estimate estimate) {
    this.budgets = budgets;
    this.approved = approved;
    this.estimate = estimate;
  }

  /**
   * Clears a run and takes a use of its approval. Call this after all other checks.
   *
   * @param plan the content of plan.json; gets {@code charged_account}
   * @param asked the estimate as an approver reads it
   * @param named the approval's file; if empty, it is searched in the policy's folder
   * @throws NexaException if the run needs an approval and has none
   */
  public static Clearance of(
      Context context,
      Policy policy,
      Proposal proposal,
      PlanFile plan,
      EstimateFile asked,
      Optional<String> named) {
    BudgetGate budgets = BudgetGate.enter(context, policy, plan);
    try {
      Estimate estimate = proposal.estimate();
      if (named.isEmpty() && !needsApproval(estimate, policy, budgets)) {
        return new Clearance(budgets, Optional.empty(), estimate);
      }
      RequireApproval required = new RequireApproval(context, policy, proposal, asked, budgets);
      Approved approved = required.claim(named);
      return new Clearance(budgets, Optional.of(approved), approved.estimate());
    } catch (RuntimeException refused) {
      budgets.close();
      throw refused;
    }
  }

  /**
   * Returns why {@link #of} would refuse the run now; empty if it would clear it. Takes no lock and
   * no use of an approval, and writes nothing.
   *
   * @param plan the content of plan.json; gets {@code charged_account}
   * @param asked the estimate as an approver reads it
   * @param named the approval's file; if empty, it is searched in the policy's folder
   */
  public static Optional<String> refusal(
      Context context,
      Policy policy,
      Proposal proposal,
      PlanFile plan,
      EstimateFile asked,
      Optional<String> named) {
    try {
      if (context.slurm().isPresent()) {
        BudgetGate.account(context, policy, plan);
      }
    } catch (NexaException unknown) {
      return Optional.of(String.valueOf(unknown.getMessage()));
    }
    BudgetGate budgets = BudgetGate.look(context, policy, plan);
    Money most = proposal.estimate().total();
    List<String> reasons = new ArrayList<>();
    if (ApprovalGate.needsApproval(proposal.estimate(), policy)) {
      reasons.add(most + " is over the limit of " + policy.approvalOver() + " in " + policy.name());
    }
    reasons.addAll(budgets.over(most));
    boolean asks = named.isPresent() || !reasons.isEmpty();
    if (!asks || new RequireApproval(context, policy, proposal, asked, budgets).isCovered(named)) {
      return Optional.empty();
    }
    reasons.add(
        named.isPresent()
            ? "the approval " + named.get() + " does not cover the run"
            : "no approval covers the run");
    return Optional.of(String.join("; ", reasons));
  }

  /**
   * Returns the permission of one of several runs that are cleared together.
   *
   * @param budgets the budgets that apply to the run, without a lock
   * @param approved the approval that all of them share
   * @param estimate the run's own estimate
   */
  static Clearance ofOne(BudgetGate budgets, Optional<Approved> approved, Estimate estimate) {
    return new Clearance(budgets, approved, estimate);
  }

  /**
   * Returns whether the run needs an approval, because of its cost or because it exceeds a budget.
   */
  public static boolean needsApproval(Estimate estimate, Policy policy, BudgetGate budgets) {
    return ApprovalGate.needsApproval(estimate, policy)
        || !budgets.over(estimate.total()).isEmpty();
  }

  /** Returns the estimate at the rates that the run will be settled at. */
  public Estimate estimate() {
    return estimate;
  }

  /** Returns the approval and its use; empty if the run needs none. */
  public Optional<Grant> grant() {
    return approved.isPresent() ? Optional.of(approved.get().grant()) : Optional.empty();
  }

  /** Adds the quote and the budget claims to the estimate that the run keeps. */
  public EstimateFile addTo(EstimateFile kept) {
    if (approved.isPresent()) {
      kept.quote(approved.get().quote());
    }
    List<BudgetClaim> claims = budgets.claims(total());
    return claims.isEmpty() ? kept : kept.budgets(BudgetClaim.toJson(claims));
  }

  /** Returns lines for the user about budgets and the approval. */
  public List<String> notes() {
    List<String> notes = new ArrayList<>(budgets.notes(total()));
    if (approved.isPresent()) {
      notes.addAll(approved.get().notes());
    }
    return notes;
  }

  /** Returns the upper bound of the run's cost, which its reservation holds. */
  public Money total() {
    return estimate.total();
  }

  /** Gives the use of the approval back, because the run was not made. */
  public void release() {
    if (approved.isPresent()) {
      approved.get().grant().release();
    }
  }

  @Override
  public void close() {
    budgets.close();
  }
}
