package dev.nexa.slurm.money.closing;

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

  /** Returns the name that a scope of budgets asks for: a project, an account or a user. */
  Optional<String> name(String scope) {
    return switch (scope) {
      case "project" -> project;
      case "account" -> account;
      case "user" -> user;
      default -> Optional.empty();
    };
  }
}
