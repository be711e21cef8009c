package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.ApprovalGate;
import dev.nexa.slurm.approve.Grant;
import dev.nexa.slurm.approve.Proposal;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.costs.BudgetClaim;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the policy wants of a run before it is submitted, and has got: room in the budgets, and an
 * approval where it costs much or more than is left. Until it is closed no other submit takes from
 * the budgets; to be closed once the run's reservation can be seen.
 */
final class Clearance implements AutoCloseable {
  private final BudgetGate budgets;
  private final Optional<Approved> approved;
  private final Estimate estimate;

  private Clearance(BudgetGate budgets, Optional<Approved> approved, Estimate estimate) {
    this.budgets = budgets;
    this.approved = approved;
    this.estimate = estimate;
  }

  /**
   * Clears a run, and takes a use of its approval: whatever else may refuse it was asked before.
   *
   * @param plan as plan.json will keep it; gets {@code charged_account}
   * @param asked the estimate as an approver is to read it
   * @param named the approval's file; else it is looked for where the policy says
   */
  static Clearance of(
      Nexa nexa,
      Policy policy,
      Proposal proposal,
      JsonObject plan,
      JsonObject asked,
      Optional<String> named) {
    BudgetGate budgets = BudgetGate.enter(nexa, policy, plan);
    try {
      Estimate estimate = proposal.estimate();
      if (named.isEmpty() && !needsApproval(estimate, policy, budgets)) {
        return new Clearance(budgets, Optional.empty(), estimate);
      }
      RequireApproval required = new RequireApproval(nexa, policy, proposal, asked, budgets);
      Approved approved;
      do {
        approved = required.check(named);
      } while (!approved.grant().claim());
      return new Clearance(budgets, Optional.of(approved), approved.estimate());
    } catch (RuntimeException refused) {
      budgets.close();
      throw refused;
    }
  }

  /** Whether a run may not be submitted without somebody's word. */
  static boolean needsApproval(Estimate estimate, Policy policy, BudgetGate budgets) {
    return ApprovalGate.needsApproval(estimate, policy)
        || !budgets.over(estimate.total()).isEmpty();
  }

  /** At the rates that it will be settled at. */
  Estimate estimate() {
    return estimate;
  }

  Optional<Grant> grant() {
    return approved.isPresent() ? Optional.of(approved.get().grant()) : Optional.empty();
  }

  /** Adds what was promised and what was taken to the estimate that the run keeps. */
  JsonObject addTo(JsonObject kept) {
    if (approved.isPresent()) {
      kept.with("quote", approved.get().quote());
    }
    List<BudgetClaim> claims = budgets.claims(total());
    return claims.isEmpty() ? kept : kept.with("budgets", BudgetClaim.toJson(claims));
  }

  /** What a person should know. */
  List<String> notes() {
    List<String> notes = new ArrayList<>(budgets.notes(total()));
    if (approved.isPresent()) {
      notes.addAll(approved.get().notes());
    }
    return notes;
  }

  Money total() {
    return estimate.total();
  }

  /** No run comes of it. */
  void release() {
    if (approved.isPresent()) {
      approved.get().grant().release();
    }
  }

  @Override
  public void close() {
    budgets.close();
  }
}
