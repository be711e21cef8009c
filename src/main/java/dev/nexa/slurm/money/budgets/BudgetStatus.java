package dev.nexa.slurm.money.budgets;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.BudgetScope;
import dev.nexa.slurm.job.config.site.Policy.Budget;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.forecast.BurnDown;
import dev.nexa.slurm.money.forecast.SpendByDay;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The used part of a budget in the period of a day.
 *
 * <p>Spent is the cost of finished runs minus credits, plus their API usage, plus the cost so far
 * of unfinished runs. Reserved is what unfinished runs may still cost.
 */
public final class BudgetStatus {
  private final Budget budget;
  private final YearMonth first;
  private final YearMonth last;
  private final Charges charges;
  private final Set<String> unfinished = new HashSet<>();
  private final SpendByDay finished;
  private BigDecimal soFar;
  private BigDecimal reserved;
  private int runs;
  private int otherCurrencies;
  private boolean named;

  /**
   * Creates the status of the period that holds the day.
   *
   * @param open the runs that have not ended
   * @param charges the API usage of the runs
   */
  public BudgetStatus(Budget budget, LocalDate day, Collection<LedgerLine> open, Charges charges) {
    this.budget = budget;
    this.charges = charges;
    finished = new SpendByDay(budget.amount().currency());
    soFar = Money.zero(budget.amount().currency()).amount();
    reserved = soFar;
    YearMonth month = YearMonth.from(day);
    int length = budget.period().equals("month") ? 1 : budget.period().equals("quarter") ? 3 : 12;
    first = month.minusMonths((month.getMonthValue() - 1) % length);
    last = first.plusMonths(length - 1L);
    for (LedgerLine run : open) {
      unfinished.add(run.runId());
      addUnfinished(run);
    }
  }

  private void addUnfinished(LedgerLine run) {
    BigDecimal reservation = run.reservation();
    if (!covers(run)) {
      return;
    }
    named = true;
    if (!budget.amount().currency().equals(run.currency())) {
      otherCurrencies++;
      return;
    }
    runs++;
    soFar = soFar.add(run.cost() == null ? BigDecimal.ZERO : run.cost());
    BigDecimal compute = run.computeCost();
    if (reservation != null) {
      BigDecimal used = compute == null ? BigDecimal.ZERO : compute;
      reserved = reserved.add(reservation.subtract(used).max(BigDecimal.ZERO));
    }
  }

  /**
   * Adds a finished run if the budget covers it and it ended in the period. A run that was passed
   * as unfinished is ignored.
   */
  public void add(LedgerLine run) {
    String month = run.month();
    named = named || covers(run);
    if (month.compareTo(first.toString()) < 0
        || month.compareTo(last.toString()) > 0
        || unfinished.contains(run.runId())
        || !covers(run)) {
      return;
    }
    String currency = budget.amount().currency();
    BigDecimal api = charges.api(run).get(currency);
    if (api != null) {
      finished.add(run.day(), api);
    }
    BigDecimal cost = run.cost();
    BigDecimal credit = run.credit();
    if (!currency.equals(run.currency()) || cost == null) {
      otherCurrencies++;
      return;
    }
    runs++;
    finished.add(run.day(), credit == null ? cost : cost.subtract(credit));
  }

  /** Returns whether the budget covers the run, by its project, account or user. */
  public boolean covers(LedgerLine run) {
    return budget.scope().counts(budget.name(), run.tagged("project"), run.account(), run.user());
  }

  /** Returns the budget. */
  public Budget budget() {
    return budget;
  }

  /** Returns the budget's name, such as {@code project nlp} or {@code all}. */
  public String name() {
    return budget.runs();
  }

  /** Returns the period, such as {@code 2025-11}, {@code 2025-Q4} or {@code 2025}. */
  public String period() {
    return switch (budget.period()) {
      case "month" -> first.toString();
      case "quarter" -> first.getYear() + "-Q" + (first.getMonthValue() + 2) / 3;
      default -> "" + first.getYear();
    };
  }

  /** Returns whether any run of any period has the budget's project, account or user. */
  public boolean isNamed() {
    return named || budget.scope() == BudgetScope.ALL;
  }

  /** Returns the number of runs that count. */
  public int runs() {
    return runs;
  }

  /**
   * Returns the number of covered runs that do not count, because they have another currency or no
   * cost.
   */
  public int otherCurrencies() {
    return otherCurrencies;
  }

  /** Returns the spent amount in the budget's currency. */
  public BigDecimal spent() {
    return finished.between(first.atDay(1), last.atEndOfMonth()).amount().add(soFar);
  }

  /**
   * Returns how the budget is used up day by day, and when it will be. The cost of unfinished runs
   * so far counts on the day of the forecast.
   */
  public BurnDown burnDown(Instant now) {
    LocalDate begin = first.atDay(1);
    LocalDate end = last.atEndOfMonth();
    SpendByDay spend = new SpendByDay(budget.amount().currency());
    finished.each(begin, end).forEach(day -> spend.add(day.date(), day.spent()));
    LocalDate today = LocalDate.ofInstant(now, ZoneOffset.UTC);
    spend.add(today.isBefore(begin) ? begin : today.isAfter(end) ? end : today, soFar);
    return BurnDown.of(budget.amount().rounded(), spend, begin, end, now);
  }

  /** Returns the reserved amount in the budget's currency. */
  public BigDecimal reserved() {
    return reserved;
  }

  /** Returns the budget minus spent and reserved; negative if the budget is exceeded. */
  public BigDecimal remaining() {
    return budget.amount().amount().subtract(spent()).subtract(reserved);
  }

  /**
   * Returns how the budget stands, in words: {@code exceeded} if spent and reserved exceed it,
   * {@code warning} from its percentage of warning on, else {@code ok}.
   */
  public String standing() {
    BigDecimal used = spent().add(reserved);
    BigDecimal amount = budget.amount().amount();
    boolean nearly =
        used.signum() > 0
            && used.movePointRight(2)
                    .compareTo(amount.multiply(BigDecimal.valueOf(budget.warnPercent())))
                >= 0;
    return remaining().signum() < 0 ? "exceeded" : nearly ? "warning" : "ok";
  }

  /**
   * Returns spent and reserved as a share of the budget, 1 for all of it; empty for a budget of 0.
   */
  public Optional<BigDecimal> usedRatio() {
    BigDecimal amount = budget.amount().amount();
    return amount.signum() == 0
        ? Optional.empty()
        : Optional.of(spent().add(reserved).divide(amount, 4, RoundingMode.HALF_EVEN));
  }
}
