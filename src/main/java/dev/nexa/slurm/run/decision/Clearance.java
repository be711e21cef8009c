package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.records.approvals.Approvable;
import dev.nexa.slurm.records.approvals.ApprovalGate;
import dev.nexa.slurm.records.approvals.Grant;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The permission to start what is asked for, be it a run, a rerun or the stages of a pipeline: room
 * in the budgets, and an approval if the policy requires one.
 *
 * <p>It holds the budgets' lock until it is closed. Close it when the reservations are on disk.
 */
public final class Clearance implements AutoCloseable {
  private final BudgetGate budgets;
  private final Optional<Approved> approved;
  private final Approvable proposal;

  private Clearance(BudgetGate budgets, Optional<Approved> approved, Approvable proposal) {
    this.budgets = budgets;
    this.approved = approved;
    this.proposal = proposal;
  }

  /**
   * Clears what is asked for and takes a use of its approval. Call this after all other checks.
   *
   * @param named the approval's file; if empty, it is searched in the policy's folder
   * @throws NexaException if an approval is needed and there is none
   */
  public static Clearance of(Context context, Policy policy, Asked asked, Optional<String> named) {
    BudgetGate budgets = BudgetGate.enter(context, policy, asked.plans());
    try {
      if (named.isEmpty() && !needsApproval(asked, policy, budgets)) {
        return new Clearance(budgets, Optional.empty(), asked.proposal());
      }
      Optional<Approved> approved =
          new RequireApproval(context, policy, asked, budgets).claim(named);
      return new Clearance(
          budgets, approved, approved.isPresent() ? approved.get().asked() : asked.proposal());
    } catch (RuntimeException refused) {
      budgets.close();
      throw refused;
    }
  }

  /**
   * Returns why {@link #of} would refuse what is asked for now; empty if it would clear it. Takes
   * no lock and no use of an approval, and writes nothing.
   *
   * @param named the approval's file; if empty, it is searched in the policy's folder
   */
  public static Optional<String> refusal(
      Context context, Policy policy, Asked asked, Optional<String> named) {
    try {
      if (context.slurm().isPresent()) {
        for (PlanFile plan : asked.plans()) {
          BudgetGate.account(context, policy, plan);
        }
      }
    } catch (NexaException unknown) {
      return Optional.of(String.valueOf(unknown.getMessage()));
    }
    BudgetGate budgets = BudgetGate.look(context, policy, asked.plans());
    List<String> reasons = new ArrayList<>();
    if (isOverLimit(asked.proposal(), policy)) {
      reasons.add(
          asked.proposal().total()
              + " is over the limit of "
              + policy.approvalOver()
              + " in "
              + policy.name());
    }
    reasons.addAll(budgets.over(asked.proposal().totals()));
    boolean asks = named.isPresent() || !reasons.isEmpty();
    if (!asks || new RequireApproval(context, policy, asked, budgets).isCovered(named)) {
      return Optional.empty();
    }
    reasons.add(
        named.isPresent()
            ? "the approval " + named.get() + " does not cover the run"
            : "no approval covers the run");
    return Optional.of(String.join("; ", reasons));
  }

  /** Returns whether an approval is needed, because of the cost or because of a budget. */
  private static boolean needsApproval(Asked asked, Policy policy, BudgetGate budgets) {
    if (isOverLimit(asked.proposal(), policy)
        || !budgets.over(asked.proposal().totals()).isEmpty()) {
      return true;
    }
    if (asked.rerun().isEmpty()) {
      return false;
    }
    Estimate today = asked.rerun().get().today();
    return ApprovalGate.needsApproval(today, policy)
        || !budgets.over(List.of(today.total())).isEmpty();
  }

  private static boolean isOverLimit(Approvable proposal, Policy policy) {
    return ApprovalGate.needsApproval(
        proposal.runs().stream().map(Proposal::estimate).toList(), policy);
  }

  /**
   * Returns the permission of one of the runs. It holds no lock.
   *
   * @param index the run's place among the plans that were asked for
   */
  public Clearance ofRun(int index) {
    return new Clearance(
        budgets.ofRun(index),
        approved.map(shared -> shared.ofRun(index)),
        proposal.runs().get(index));
  }

  /**
   * Returns the estimate of a run at the rates that it will be settled at. Must not be called for a
   * pipeline as a whole.
   */
  public Estimate estimate() {
    return ((Proposal) proposal).estimate();
  }

  /** Returns the approval and its use; empty if none is needed. */
  public Optional<Grant> grant() {
    return approved.isPresent() ? Optional.of(approved.get().grant()) : Optional.empty();
  }

  /** Adds the quote and the budget claims to the estimate that the run keeps. */
  public EstimateFile addTo(EstimateFile kept) {
    if (approved.isPresent()) {
      kept.quote(approved.get().quote());
    }
    List<BudgetClaim> claims = budgets.claims(proposal.totals());
    return claims.isEmpty() ? kept : kept.budgets(BudgetClaim.toJson(claims));
  }

  /** Returns lines for the user about budgets and the approval. */
  public List<String> notes() {
    List<String> notes = budgetNotes();
    if (approved.isPresent()) {
      notes.addAll(approved.get().notes());
    }
    return notes;
  }

  /** Returns lines for the user about budgets. */
  public List<String> budgetNotes() {
    return budgets.notes(proposal.totals());
  }

  /** Returns the upper bound of the cost, which the reservations hold. */
  public Money total() {
    return proposal.total();
  }

  /** Gives the use of the approval back, because nothing was made. */
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
