package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.BudgetUsage;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Records each budget that is exceeded, once in its period. In a team's workspace the passes of the
 * owner do that, so that the team is notified once.
 */
public record FindOverBudgets(Context context) {
  private static final int DIGITS = 8;

  /**
   * Records the budgets that are exceeded now.
   *
   * @param problems receives a line if that fails
   */
  public void record(List<String> problems) {
    Policy policy = context.configs().policy();
    boolean asked =
        policy.channels().stream()
            .anyMatch(channel -> channel.kinds().contains(NoticeKind.OVER_BUDGET));
    if (!asked || policy.budgets().isEmpty() || !context.workspace().isOwn()) {
      return;
    }
    // Records that cannot be read are a problem of `costs budget`, which names them.
    List<BudgetStatus> budgets =
        new BudgetUsage(context).on(LocalDate.now(ZoneOffset.UTC), new ArrayList<>());
    for (BudgetStatus budget : budgets) {
      Money limit = budget.budget().amount();
      if (budget.spent().compareTo(limit.amount()) > 0) {
        new Outbox(context.workspace())
            .recordIfAsked(policy.channels(), notice(budget, limit))
            .ifPresent(problems::add);
      }
    }
  }

  private static Notice notice(BudgetStatus budget, Money limit) {
    Money spent = new Money(budget.spent(), limit.currency());
    return Notice.of(
            NoticeKind.OVER_BUDGET,
            budget.name()
                + "."
                + budget.period()
                + "."
                + Sha256.of(budget.name() + limit).substring(0, DIGITS),
            Optional.empty(),
            "the budget " + budget.name() + " of " + budget.period() + " is exceeded",
            List.of(
                "spent: " + spent + " of " + limit,
                "reserved: " + new Money(budget.reserved(), limit.currency()),
                "nexa-slurm costs budget"))
        .with("budget", budget.name())
        .with("period", budget.period())
        .with("cost", spent.amount().toPlainString())
        .with("currency", limit.currency());
  }
}
