package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.job.config.site.BudgetScope;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.util.Optional;

/** The project, the user and the account of a run's amounts; each is empty if it is unknown. */
public record Payer(Optional<String> project, Optional<String> user, Optional<String> account) {
  static Payer of(LedgerLine run) {
    return new Payer(
        Optional.ofNullable(run.tagged("project")),
        Optional.ofNullable(run.user()),
        Optional.ofNullable(run.account()));
  }

  /** Returns whether a budget counts it. */
  boolean isCounted(BudgetScope scope, String budget) {
    return scope.counts(budget, project.orElse(null), account.orElse(null), user.orElse(null));
  }

  /** Returns the name in a group of {@link Statement#GROUPS}. */
  Optional<String> name(String group) {
    return switch (group) {
      case "project" -> project;
      case "account" -> account;
      case "user" -> user;
      default -> Optional.empty();
    };
  }
}
