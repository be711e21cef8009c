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
import java.nio.file.Path;
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
  private final List<BudgetClaim> claims;
  private final List<String> unread;

  private BudgetGate(Optional<FileLock> lock, List<BudgetClaim> claims, List<String> unread) {
    this.lock = lock;
    this.claims = claims;
    this.unread = unread;
  }

  /**
   * Takes the gate for a run that is about to be submitted; to be closed once others can see its
   * reservation. One that would take more than is left goes no further than estimates/.
   *
   * @param plan as plan.json will keep it; gets {@code charged_account}, where budgets are by
   *     account and only Slurm knows it
   */
  static BudgetGate enter(
      Nexa nexa, Policy policy, JsonObject plan, JsonObject estimate, Money needs) {
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
      BudgetGate gate = of(lock, nexa, policy, plan, needs);
      if (gate.closed()) {
        throw gate.refusal(Approval.keep(nexa, estimate, plan.text("config")));
      }
      return gate;
    } catch (RuntimeException failed) {
      lock.get().close();
      throw failed;
    }
  }

  /** The same for who only wants to know: nothing is held, and Slurm is not asked. */
  static List<BudgetClaim> look(Nexa nexa, Policy policy, JsonObject plan, Money needs) {
    return of(Optional.empty(), nexa, policy, plan, needs).claims;
  }

  private static BudgetGate of(
      Optional<FileLock> lock, Nexa nexa, Policy policy, JsonObject plan, Money needs) {
    LocalDate today = LocalDate.now(ZoneOffset.UTC);
    RunLine asks = asks(plan, YearMonth.from(today));
    List<String> unread = new ArrayList<>();
    List<BudgetClaim> claims = new ArrayList<>();
    for (BudgetStatus budget : new ShowBudgets(nexa).on(policy, today, unread)) {
      if (budget.covers(asks)) {
        claims.add(new BudgetClaim(budget, needs));
      }
    }
    return new BudgetGate(lock, claims, claims.isEmpty() ? List.of() : unread);
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

  private boolean closed() {
    boolean closed = !unread.isEmpty();
    for (BudgetClaim claim : claims) {
      closed |= claim.over();
    }
    return closed;
  }

  private NexaException refusal(Path kept) {
    List<String> why = new ArrayList<>();
    for (BudgetClaim claim : claims) {
      if (claim.over()) {
        why.add(claim.sentence());
      }
    }
    for (String problem : unread) {
      why.add("what is left can't be told: " + problem);
    }
    return new NexaException(
        ExitCode.NEEDS_APPROVAL,
        String.join("\n", why),
        "nothing was submitted; the estimate is in " + kept,
        "ask for less, or type `nexa-slurm reconcile`: it releases what ended runs had reserved",
        "who may approve more than the budget types: nexa-slurm approve "
            + kept
            + " --over-budget");
  }

  /** What the budgets' keepers want told before they are gone. */
  List<String> notes() {
    List<String> notes = new ArrayList<>();
    for (BudgetClaim claim : claims) {
      if (claim.warns() || !claim.comparable()) {
        notes.add(claim.warning());
      }
    }
    return notes;
  }

  List<BudgetClaim> claims() {
    return claims;
  }

  @Override
  public void close() {
    if (lock.isPresent()) {
      lock.get().close();
    }
  }
}
