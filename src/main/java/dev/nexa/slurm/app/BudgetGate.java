package dev.nexa.slurm.app;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.costs.BudgetClaim;
import dev.nexa.slurm.costs.BudgetStatus;
import dev.nexa.slurm.costs.RunLine;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.units.Money;
import java.time.Duration;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a run would take of the policy's budgets. Who holds the gate is alone with them: a second
 * submit waits until this one's reservation can be seen, so two can't both take what is left.
 */
final class BudgetGate implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final BudgetGate NONE = new BudgetGate(Optional.empty(), List.of(), List.of());

  private final Optional<FileLock> lock;
  private final List<BudgetStatus> budgets;
  private final List<String> unread;

  private BudgetGate(Optional<FileLock> lock, List<BudgetStatus> budgets, List<String> unread) {
    this.lock = lock;
    this.budgets = budgets;
    this.unread = unread;
  }

  /**
   * Takes the gate for a run that is about to be submitted; to be closed once others can see its
   * reservation.
   *
   * @param plan as plan.json will keep it; gets {@code charged_account}, where budgets are by
   *     account and only Slurm knows it
   */
  static BudgetGate enter(Nexa nexa, Policy policy, JsonObject plan) {
    if (policy.budgets().isEmpty()) {
      return NONE;
    }
    account(nexa, policy, plan);
    Optional<FileLock> lock = nexa.workspace().lockBudgets(PATIENCE);
    if (lock.isEmpty()) {
      throw new NexaException(
          ExitCode.DEFECT,
          "other submits have held the budgets for " + PATIENCE.toSeconds() + " s",
          "nothing was submitted; type it again");
    }
    try {
      return of(lock, nexa, policy, plan);
    } catch (RuntimeException failed) {
      lock.get().close();
      throw failed;
    }
  }

  /** The same for who only wants to know: nothing is held, and Slurm is not asked. */
  static BudgetGate look(Nexa nexa, Policy policy, JsonObject plan) {
    return of(Optional.empty(), nexa, policy, plan);
  }

  private static BudgetGate of(Optional<FileLock> lock, Nexa nexa, Policy policy, JsonObject plan) {
    LocalDate today = LocalDate.now(ZoneOffset.UTC);
    RunLine asks = asks(plan, YearMonth.from(today));
    List<String> unread = new ArrayList<>();
    List<BudgetStatus> budgets = new ArrayList<>();
    for (BudgetStatus budget : new ShowBudgets(nexa).on(policy, today, unread)) {
      if (budget.covers(asks)) {
        budgets.add(budget);
      }
    }
    return new BudgetGate(lock, budgets, budgets.isEmpty() ? List.of() : unread);
  }

  private static RunLine asks(JsonObject plan, YearMonth month) {
    JsonObject line =
        new JsonObject()
            .with("run_id", "none")
            .with("tags", plan.texts("tags"))
            .with("account", OtherRuns.account(plan).orElse(null))
            .with("user", System.getProperty("user.name", ""));
    return RunLine.of(line, month.toString());
  }

  /** Slurm charges who names no account to the user's default one. */
  private static void account(Nexa nexa, Policy policy, JsonObject plan) {
    boolean byAccount = false;
    for (Policy.Budget budget : policy.budgets()) {
      byAccount |= budget.scope().equals("account");
    }
    if (!byAccount
        || OtherRuns.account(plan).isPresent()
        || !plan.text("scheduler").equals(SlurmScheduler.NAME)) {
      return;
    }
    Optional<String> account = Optional.empty();
    try {
      account = nexa.slurm().orElseThrow().defaultAccount(System.getProperty("user.name", ""));
    } catch (SchedulerUnavailable outage) {
      // Told below: whoever is charged must be known before money is.
    }
    if (account.isEmpty()) {
      throw new NexaException(
          ExitCode.USAGE,
          policy.name()
              + " has budgets by account, "
              + plan.text("config")
              + " names none, and accounting does not tell your default one",
          "name it: --set resources.account=NAME (`sacctmgr show associations user=$USER` lists"
              + " yours)");
    }
    plan.with("charged_account", account.get());
  }

  /** What a run would ask of each budget that is for it. */
  List<BudgetClaim> claims(Money needs) {
    List<BudgetClaim> claims = new ArrayList<>();
    for (BudgetStatus budget : budgets) {
      claims.add(new BudgetClaim(budget, needs));
    }
    return claims;
  }

  /** Why the run would take more than is left, or what keeps that from being told; else empty. */
  List<String> over(Money needs) {
    List<String> over = new ArrayList<>();
    for (BudgetClaim claim : claims(needs)) {
      if (claim.over()) {
        over.add(claim.sentence());
      }
    }
    for (String problem : unread) {
      over.add("what is left of the budgets can't be told: " + problem);
    }
    return over;
  }

  /** What the budgets' keepers want told before they are gone. */
  List<String> notes(Money needs) {
    List<String> notes = new ArrayList<>();
    for (BudgetClaim claim : claims(needs)) {
      if (claim.warns() || !claim.comparable()) {
        notes.add(claim.warning());
      }
    }
    return notes;
  }

  @Override
  public void close() {
    if (lock.isPresent()) {
      lock.get().close();
    }
  }
}
