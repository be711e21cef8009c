package dev.nexa.slurm.costs;

import dev.nexa.slurm.config.Policy.Budget;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.time.YearMonth;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * How much of a budget is gone in the period of a day. Spent is what finished runs of these months
 * cost, without credits, with their API usage, and what unfinished ones have cost so far; reserved
 * is what unfinished ones may still cost.
 */
public final class BudgetStatus {
  private final Budget budget;
  private final YearMonth first;
  private final YearMonth last;
  private final Charges charges;
  private final Set<String> unfinished = new HashSet<>();
  private BigDecimal spent;
  private BigDecimal reserved;
  private int runs;
  private int otherCurrencies;

  /** Of a budget on that day, with the runs that have not ended. */
  public BudgetStatus(Budget budget, LocalDate day, Collection<RunLine> open, Charges charges) {
    this.budget = budget;
    this.charges = charges;
    spent = Money.zero(budget.amount().currency()).amount();
    reserved = spent;
    YearMonth month = YearMonth.from(day);
    int length = budget.period().equals("month") ? 1 : budget.period().equals("quarter") ? 3 : 12;
    first = month.minusMonths((month.getMonthValue() - 1) % length);
    last = first.plusMonths(length - 1L);
    for (RunLine run : open) {
      unfinished.add(run.runId());
      addUnfinished(run);
    }
  }

  private void addUnfinished(RunLine run) {
    BigDecimal reservation = run.reservation();
    if (!covers(run)) {
      return;
    }
    if (!budget.amount().currency().equals(run.currency())) {
      otherCurrencies++;
      return;
    }
    BigDecimal soFar = run.cost() == null ? BigDecimal.ZERO : run.cost();
    runs++;
    spent = spent.add(soFar);
    if (reservation != null) {
      reserved = reserved.add(reservation.subtract(soFar).max(BigDecimal.ZERO));
    }
  }

  /** Adds a finished run, if the budget is for it; one that runs again counts as unfinished. */
  public void add(RunLine run) {
    String month = run.month();
    if (month.compareTo(first.toString()) < 0
        || month.compareTo(last.toString()) > 0
        || unfinished.contains(run.runId())
        || !covers(run)) {
      return;
    }
    String currency = budget.amount().currency();
    BigDecimal api = charges.api(run.runId()).get(currency);
    spent = api == null ? spent : spent.add(api);
    BigDecimal cost = run.cost();
    BigDecimal credit = run.credit();
    if (!currency.equals(run.currency()) || cost == null) {
      otherCurrencies++;
      return;
    }
    runs++;
    spent = spent.add(credit == null ? cost : cost.subtract(credit));
  }

  /** Whether the budget is for such a run. */
  public boolean covers(RunLine run) {
    return switch (budget.scope()) {
      case "project" -> budget.name().equals(run.tagged("project"));
      case "account" -> budget.name().equals(run.account());
      case "user" -> budget.name().equals(run.user());
      default -> true;
    };
  }

  public Budget budget() {
    return budget;
  }

  /** {@code project nlp}, or {@code all}. */
  public String name() {
    return budget.name().isEmpty() ? budget.scope() : budget.scope() + " " + budget.name();
  }

  /** {@code 2025-11}, {@code 2025-Q4} or {@code 2025}. */
  public String period() {
    return switch (budget.period()) {
      case "month" -> first.toString();
      case "quarter" -> first.getYear() + "-Q" + (first.getMonthValue() + 2) / 3;
      default -> "" + first.getYear();
    };
  }

  public int runs() {
    return runs;
  }

  /** Runs that it is for and does not count, because they cost another currency. */
  public int otherCurrencies() {
    return otherCurrencies;
  }

  public BigDecimal spent() {
    return spent;
  }

  public BigDecimal reserved() {
    return reserved;
  }

  /** What may still be spent, if all that is reserved is; below zero if it is too much. */
  public BigDecimal remaining() {
    return budget.amount().amount().subtract(spent).subtract(reserved);
  }

  /** Spent and reserved, as a part of the budget; empty where the budget is nothing. */
  public Optional<BigDecimal> usedRatio() {
    BigDecimal amount = budget.amount().amount();
    return amount.signum() == 0
        ? Optional.empty()
        : Optional.of(spent.add(reserved).divide(amount, 4, RoundingMode.HALF_EVEN));
  }
}
