package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.job.config.site.BudgetScope;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.run.Context;
import java.time.Duration;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Compares the cost of runs that start together with the policy's budgets.
 *
 * <p>{@link #enter} takes a lock that all submits in the workspace share. A second submit waits
 * until the reservations are on disk, so two runs cannot both take the last of a budget.
 */
public final class BudgetGate implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Optional<FileLock> lock;
  private final List<OfRun> runs;
  private final List<String> unread;

  private BudgetGate(Optional<FileLock> lock, List<OfRun> runs, List<String> unread) {
    this.lock = lock;
    this.runs = runs;
    this.unread = unread;
  }

  /**
   * The budgets that apply to a run.
   *
   * @param notCounted notes about a project or an account that no budget counts
   */
  private record OfRun(List<BudgetStatus> budgets, List<String> notCounted) {}

  /**
   * Takes the lock for runs that are about to be submitted together. Close the gate when their
   * reservations are on disk.
   *
   * @param plans the content of each run's plan.json; gets {@code charged_account} if a budget is
   *     by account and only Slurm knows the account
   * @throws NexaException if other submits hold the lock for 60 seconds, or if a budget is by
   *     account and the account is unknown
   */
  static BudgetGate enter(Context context, Policy policy, List<PlanFile> plans) {
    List<List<String>> notes = new ArrayList<>();
    for (PlanFile plan : plans) {
      notes.add(account(context, policy, plan));
    }
    if (policy.budgets().isEmpty()) {
      return of(Optional.empty(), context, policy, plans, notes);
    }
    Optional<FileLock> lock = context.workspace().lockBudgets(PATIENCE);
    if (lock.isEmpty()) {
      throw ErrorCode.CONCURRENT_CHANGE.error(
          "other submits have held the budgets for " + PATIENCE.toSeconds() + " s",
          "nothing was submitted; type it again");
    }
    try {
      return of(lock, context, policy, plans, notes);
    } catch (RuntimeException failed) {
      lock.get().close();
      throw failed;
    }
  }

  /** Returns the budgets without a lock and without asking Slurm, for a report. */
  public static BudgetGate look(Context context, Policy policy, List<PlanFile> plans) {
    return of(
        Optional.empty(), context, policy, plans, Collections.nCopies(plans.size(), List.of()));
  }

  private static BudgetGate of(
      Optional<FileLock> lock,
      Context context,
      Policy policy,
      List<PlanFile> plans,
      List<List<String>> notes) {
    LocalDate today = LocalDate.now(ZoneOffset.UTC);
    List<String> unread = new ArrayList<>();
    List<BudgetStatus> all = new BudgetUsage(context).on(policy, today, unread);
    List<OfRun> runs = new ArrayList<>();
    boolean anyBudget = false;
    for (int i = 0; i < plans.size(); i++) {
      List<String> notCounted = new ArrayList<>(notes.get(i));
      List<BudgetStatus> budgets = new ArrayList<>();
      if (!policy.budgets().isEmpty()) {
        LedgerLine asks = asks(plans.get(i), YearMonth.from(today));
        for (BudgetStatus budget : all) {
          if (budget.covers(asks)) {
            budgets.add(budget);
          }
        }
        outside(policy, asks).ifPresent(notCounted::add);
      }
      anyBudget |= !budgets.isEmpty();
      runs.add(new OfRun(budgets, notCounted));
    }
    return new BudgetGate(lock, runs, anyBudget ? unread : List.of());
  }

  /** Returns the budgets that apply to one of the runs, without the lock. */
  BudgetGate ofRun(int index) {
    return new BudgetGate(Optional.empty(), List.of(runs.get(index)), unread);
  }

  /**
   * Returns a note if the policy has budgets of projects and none of them counts the run, because
   * the run has no project or a mistyped one.
   */
  private static Optional<String> outside(Policy policy, LedgerLine asks) {
    List<String> projects = new ArrayList<>();
    for (Policy.Budget budget : policy.budgets()) {
      if (budget.scope() == BudgetScope.PROJECT) {
        projects.add(budget.name());
      }
    }
    String project = asks.tagged("project");
    if (projects.isEmpty() || (project != null && projects.contains(project))) {
      return Optional.empty();
    }
    if (project == null) {
      return Optional.of(
          "note: the run has no tag project:NAME, so no project's budget in %s counts it"
              .formatted(policy.name()));
    }
    String nearest =
        Nearest.to(project, projects).map(name -> " (did you mean " + name + "?)").orElse("");
    return Optional.of(
        "note: " + policy.name() + " has no budget for the project " + project + nearest);
  }

  private static LedgerLine asks(PlanFile plan, YearMonth month) {
    return new LedgerLine.Draft("none")
        .with(LedgerKey.TAGS, plan.tags())
        .with(LedgerKey.ACCOUNT, plan.account())
        .with(LedgerKey.USER, UnixUser.me().user())
        .line(month.toString());
  }

  /**
   * Adds the user's default account to the plan, because Slurm charges it if a job names no
   * account.
   *
   * @return a note about a named account that does not exist, if no budget is by account
   * @throws NexaException if a budget is by account, and the run's account is unknown or does not
   *     exist
   */
  static List<String> account(Context context, Policy policy, PlanFile plan) {
    List<String> accounts = new ArrayList<>();
    for (Policy.Budget budget : policy.budgets()) {
      if (budget.scope() == BudgetScope.ACCOUNT) {
        accounts.add(budget.name());
      }
    }
    String name = plan.account().orElse("");
    boolean counted = accounts.stream().anyMatch(name::equalsIgnoreCase);
    if (plan.isLocal() || counted || (name.isEmpty() && accounts.isEmpty())) {
      return List.of();
    }
    if (!name.isEmpty()) {
      Optional<String> missing = AccountCheck.of(context, plan.account());
      if (missing.isEmpty() || accounts.isEmpty()) {
        return missing.map(sentence -> List.of("note: " + sentence)).orElse(List.of());
      }
      throw ErrorCode.ACCOUNT_NEEDED.error(
          ("%s has budgets by account, and Slurm's accounting has no account '%s'%s, so that"
                  + " no budget would count the run")
              .formatted(policy.name(), name, Nearest.hint(name, accounts)),
          "name another one: --set resources.account=NAME (`sacctmgr show account` lists the"
              + " accounts)");
    }
    Optional<String> account = Optional.empty();
    try {
      account = context.slurm().orElseThrow().defaultAccount(UnixUser.me().user());
    } catch (SchedulerUnavailable outage) {
      // An unknown account is an error below: a run must not start before it is known who pays.
    }
    if (account.isEmpty()) {
      throw ErrorCode.ACCOUNT_NEEDED.error(
          ("%s has budgets by account, %s names no account, and accounting reports no default"
                  + " account for you")
              .formatted(policy.name(), plan.config()),
          "name it: --set resources.account=NAME (`sacctmgr show associations user=$USER` lists"
              + " yours)");
    }
    plan.chargedTo(account.get());
    return List.of();
  }

  /**
   * Returns the claim on each budget that applies to a run; the claims of several runs on one
   * budget are added up.
   *
   * @param needs what each run can cost, in the order of the plans
   */
  public List<BudgetClaim> claims(List<Money> needs) {
    Map<BudgetStatus, Money> sums = new LinkedHashMap<>();
    for (int i = 0; i < runs.size(); i++) {
      for (BudgetStatus budget : runs.get(i).budgets()) {
        sums.merge(budget, needs.get(i), Money::plus);
      }
    }
    List<BudgetClaim> claims = new ArrayList<>();
    sums.forEach((budget, sum) -> claims.add(new BudgetClaim(budget, sum)));
    return claims;
  }

  /**
   * Returns a line for each budget that the runs would exceed together, and for each record that
   * cannot be read; empty if the runs fit.
   */
  List<String> over(List<Money> needs) {
    List<String> over = new ArrayList<>();
    for (BudgetClaim claim : claims(needs)) {
      if (claim.over()) {
        over.add(claim.sentence());
      }
    }
    for (String problem : unread) {
      over.add("what is left of the budgets is not known: " + problem);
    }
    return over;
  }

  /**
   * Returns the warnings that the budgets ask for, such as a budget that is nearly used up, and
   * notes about a project or an account that no budget counts.
   */
  List<String> notes(List<Money> needs) {
    List<String> notes = new ArrayList<>();
    for (BudgetClaim claim : claims(needs)) {
      if (claim.warns() || !claim.comparable()) {
        notes.add(claim.warning());
      }
    }
    for (OfRun run : runs) {
      run.notCounted().stream().filter(note -> !notes.contains(note)).forEach(notes::add);
    }
    return notes;
  }

  @Override
  public void close() {
    lock.ifPresent(FileLock::close);
  }
}
