package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
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
import java.util.List;
import java.util.Optional;

/**
 * Compares a run's cost with the policy's budgets.
 *
 * <p>{@link #enter} takes a lock that all submits in the workspace share. A second submit waits
 * until this run's reservation is on disk, so two runs cannot both take the last of a budget.
 */
public final class BudgetGate implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Optional<FileLock> lock;
  private final List<BudgetStatus> budgets;
  private final List<String> unread;
  private final List<String> notCounted;

  private BudgetGate(
      Optional<FileLock> lock,
      List<BudgetStatus> budgets,
      List<String> unread,
      List<String> notCounted) {
    this.lock = lock;
    this.budgets = budgets;
    this.unread = unread;
    this.notCounted = notCounted;
  }

  /**
   * Takes the lock for a run that is about to be submitted. Close the gate when the run's
   * reservation is on disk.
   *
   * @param plan the content of plan.json; gets {@code charged_account} if a budget is by account
   *     and only Slurm knows the account
   * @throws NexaException if other submits hold the lock for 60 seconds, or if a budget is by
   *     account and the account is unknown
   */
  public static BudgetGate enter(Context context, Policy policy, PlanFile plan) {
    List<String> notes = account(context, policy, plan);
    if (policy.budgets().isEmpty()) {
      return of(Optional.empty(), context, policy, plan, notes);
    }
    Optional<FileLock> lock = context.workspace().lockBudgets(PATIENCE);
    if (lock.isEmpty()) {
      throw new NexaException(
          ErrorCode.CONCURRENT_CHANGE,
          "other submits have held the budgets for " + PATIENCE.toSeconds() + " s",
          Advice.step("nothing was submitted; type it again"));
    }
    try {
      return of(lock, context, policy, plan, notes);
    } catch (RuntimeException failed) {
      lock.get().close();
      throw failed;
    }
  }

  /**
   * Takes the lock for runs that are submitted together.
   *
   * @return the lock, and a gate without a lock for each plan, in order
   * @throws NexaException as {@link #enter(Context, Policy, PlanFile)} does
   */
  static Together enter(Context context, Policy policy, List<PlanFile> plans) {
    BudgetGate first = enter(context, policy, plans.get(0));
    try {
      List<BudgetGate> gates = new ArrayList<>();
      for (PlanFile plan : plans) {
        List<String> notes = account(context, policy, plan);
        gates.add(of(Optional.empty(), context, policy, plan, notes));
      }
      return new Together(first, gates);
    } catch (RuntimeException failed) {
      first.close();
      throw failed;
    }
  }

  /**
   * The budgets of runs that are submitted together.
   *
   * @param holder holds the lock
   * @param gates the budgets that apply to each run
   */
  record Together(BudgetGate holder, List<BudgetGate> gates) implements AutoCloseable {
    /**
     * Returns the claims of all runs, added up for each budget.
     *
     * @param needs what each run can cost, in the order of the gates
     */
    List<BudgetClaim> claims(List<Money> needs) {
      List<BudgetClaim> claims = new ArrayList<>();
      for (int i = 0; i < gates.size(); i++) {
        claims.addAll(gates.get(i).claims(needs.get(i)));
      }
      return BudgetClaim.added(claims);
    }

    /** Returns a line for each budget that the runs would exceed together. */
    List<String> over(List<Money> needs) {
      return BudgetGate.over(claims(needs), holder.unread);
    }

    @Override
    public void close() {
      holder.close();
    }
  }

  /** Returns the budgets without a lock and without asking Slurm, for a report. */
  public static BudgetGate look(Context context, Policy policy, PlanFile plan) {
    return of(Optional.empty(), context, policy, plan, List.of());
  }

  private static BudgetGate of(
      Optional<FileLock> lock, Context context, Policy policy, PlanFile plan, List<String> notes) {
    if (policy.budgets().isEmpty()) {
      return new BudgetGate(lock, List.of(), List.of(), notes);
    }
    LocalDate today = LocalDate.now(ZoneOffset.UTC);
    LedgerLine asks = asks(plan, YearMonth.from(today));
    List<String> unread = new ArrayList<>();
    List<BudgetStatus> budgets = new ArrayList<>();
    for (BudgetStatus budget : new BudgetUsage(context).on(policy, today, unread)) {
      if (budget.covers(asks)) {
        budgets.add(budget);
      }
    }
    List<String> all = new ArrayList<>(notes);
    outside(policy, asks).ifPresent(all::add);
    return new BudgetGate(lock, budgets, budgets.isEmpty() ? List.of() : unread, all);
  }

  /**
   * Returns a note if the policy has budgets of projects and none of them counts the run, because
   * the run has no project or a mistyped one.
   */
  private static Optional<String> outside(Policy policy, LedgerLine asks) {
    List<String> projects = new ArrayList<>();
    for (Policy.Budget budget : policy.budgets()) {
      if (budget.scope().equals("project")) {
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
      if (budget.scope().equals("account")) {
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
      throw new NexaException(
          ErrorCode.ACCOUNT_NEEDED,
          ("%s has budgets by account, and Slurm's accounting has no account '%s'%s, so that"
                  + " no budget would count the run")
              .formatted(policy.name(), name, Nearest.hint(name, accounts)),
          Advice.step(
              "name another one: --set resources.account=NAME (`sacctmgr show account` lists the"
                  + " accounts)"));
    }
    Optional<String> account = Optional.empty();
    try {
      account = context.slurm().orElseThrow().defaultAccount(UnixUser.me().user());
    } catch (SchedulerUnavailable outage) {
      // An unknown account is an error below: a run must not start before it is known who pays.
    }
    if (account.isEmpty()) {
      throw new NexaException(
          ErrorCode.ACCOUNT_NEEDED,
          ("%s has budgets by account, %s names no account, and accounting reports no default"
                  + " account for you")
              .formatted(policy.name(), plan.config()),
          Advice.step(
              "name it: --set resources.account=NAME (`sacctmgr show associations user=$USER` lists"
                  + " yours)"));
    }
    plan.chargedTo(account.get());
    return List.of();
  }

  /** Returns the run's claim on each budget that applies to it. */
  public List<BudgetClaim> claims(Money needs) {
    List<BudgetClaim> claims = new ArrayList<>();
    for (BudgetStatus budget : budgets) {
      claims.add(new BudgetClaim(budget, needs));
    }
    return claims;
  }

  /**
   * Returns a line for each budget that the run would exceed, and for each record that cannot be
   * read; empty if the run fits.
   */
  List<String> over(Money needs) {
    return over(claims(needs), unread);
  }

  private static List<String> over(List<BudgetClaim> claims, List<String> unread) {
    List<String> over = new ArrayList<>();
    for (BudgetClaim claim : claims) {
      if (claim.over()) {
        over.add(claim.sentence());
      }
    }
    for (String problem : unread) {
      over.add("what is left of the budgets is not known: " + problem);
    }
    return over;
  }

  /** Returns the warnings that the budgets ask for, such as a budget that is nearly used up. */
  public List<String> notes(Money needs) {
    List<String> notes = warnings(claims(needs));
    notes.addAll(notCounted);
    return notes;
  }

  static List<String> warnings(List<BudgetClaim> claims) {
    List<String> notes = new ArrayList<>();
    for (BudgetClaim claim : claims) {
      if (claim.warns() || !claim.comparable()) {
        notes.add(claim.warning());
      }
    }
    return notes;
  }

  /** Returns notes about a project or an account that no budget counts. */
  List<String> notCounted() {
    return notCounted;
  }

  @Override
  public void close() {
    lock.ifPresent(FileLock::close);
  }
}
