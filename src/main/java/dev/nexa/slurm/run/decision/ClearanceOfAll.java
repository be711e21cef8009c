package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.Policy;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.records.approvals.ApprovalGate;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
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
  private final List<Clearance> each;
  private final Money total;

  private ClearanceOfAll(BudgetGate.Together budgets, List<Clearance> each, Money total) {
    this.budgets = budgets;
    this.each = each;
    this.total = total;
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
   * Clears the runs. Call this after all other checks.
   *
   * @param asked the runs, priced in one currency; at least one
   * @throws NexaException if the runs need an approval and have none
   */
  public static ClearanceOfAll of(Context context, Policy policy, List<Asked> asked) {
    List<Money> needs = asked.stream().map(one -> one.proposal().estimate().total()).toList();
    Money total = needs.stream().reduce(Money.zero(needs.get(0).currency()), Money::plus);
    BudgetGate.Together budgets =
        BudgetGate.enter(context, policy, asked.stream().map(Asked::plan).toList());
    try {
      requireNoApproval(policy, asked, total, budgets.over(needs));
      List<Clearance> each = new ArrayList<>();
      for (int i = 0; i < asked.size(); i++) {
        each.add(
            Clearance.ofOne(
                budgets.gates().get(i), Optional.empty(), asked.get(i).proposal().estimate()));
      }
      return new ClearanceOfAll(budgets, each, total);
    } catch (RuntimeException refused) {
      budgets.close();
      throw refused;
    }
  }

  private static void requireNoApproval(
      Policy policy, List<Asked> asked, Money total, List<String> over) {
    // One run alone is compared first: the message names its price book if the currencies differ.
    boolean needed = ApprovalGate.needsApproval(asked.get(0).proposal().estimate(), policy);
    if (needed || total.compareTo(policy.approvalOver()) > 0 || !over.isEmpty()) {
      throw new NexaException(
          over.isEmpty() ? ErrorCode.NEEDS_APPROVAL : ErrorCode.OVER_BUDGET,
          over.isEmpty()
              ? "all stages together can cost " + total + ", over " + policy.approvalOver()
              : String.join("; ", over),
          Advice.step("nothing was submitted"));
    }
  }

  /** Returns the permission of each run, in the order in which they were asked for. */
  public List<Clearance> each() {
    return each;
  }

  /** Returns the most that all runs can cost. */
  public Money total() {
    return total;
  }

  /** Returns lines for the user about the budgets. */
  public List<String> notes() {
    List<String> notes = new ArrayList<>();
    List<Money> needs = each.stream().map(Clearance::total).toList();
    for (BudgetClaim claim : budgets.claims(needs)) {
      if (claim.warns() || !claim.comparable()) {
        notes.add(claim.warning());
      }
    }
    return notes;
  }

  /** Gives the approval's use back, because the runs were not made. */
  public void release() {
    each.forEach(Clearance::release);
  }

  @Override
  public void close() {
    budgets.close();
  }
}
