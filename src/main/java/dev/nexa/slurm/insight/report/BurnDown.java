package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Adds up what finished runs took from a budget, day by day. */
final class BurnDown {
  private final BudgetStatus status;
  private final LocalDate first;
  private final LocalDate last;
  private final String currency;
  private final Charges charges;
  private final Map<LocalDate, BigDecimal> days = new TreeMap<>();

  BurnDown(BudgetStatus status, Charges charges) {
    this.status = status;
    this.charges = charges;
    first = status.first().atDay(1);
    last = status.last().atEndOfMonth();
    currency = status.budget().amount().currency();
  }

  /** Adds a finished run, on the day of its end, if the budget counts it. */
  void add(LedgerLine run) {
    if (run.ended() == null || !status.counts(run)) {
      return;
    }
    LocalDate day = LocalDate.ofInstant(run.ended(), ZoneOffset.UTC);
    BigDecimal api = charges.api(run).getOrDefault(currency, BigDecimal.ZERO);
    BigDecimal spent = api;
    if (currency.equals(run.currency()) && run.cost() != null) {
      BigDecimal credit = run.credit() == null ? BigDecimal.ZERO : run.credit();
      spent = spent.add(run.cost()).subtract(credit);
    }
    // A run's month is that of its end, except for a run that was corrected later.
    LocalDate within = day.isBefore(first) ? first : day.isAfter(last) ? last : day;
    days.merge(within, spent, BigDecimal::add);
  }

  /**
   * Returns the budget's outlook.
   *
   * @param day the day of the report
   */
  BudgetOutlook on(LocalDate day) {
    LocalDate today = day.isAfter(last) ? last : day;
    List<BigDecimal> byDay = new ArrayList<>();
    BigDecimal sum = BigDecimal.ZERO;
    for (LocalDate each = first; !each.isAfter(today); each = each.plusDays(1)) {
      sum = sum.add(days.getOrDefault(each, BigDecimal.ZERO));
      byDay.add(sum);
    }
    if (!byDay.isEmpty() && !day.isAfter(last)) {
      // Unfinished runs have cost something too; the days of that are not known.
      byDay.set(byDay.size() - 1, status.spent());
    }
    BigDecimal amount = status.budget().amount().amount();
    long passed = ChronoUnit.DAYS.between(first, today) + 1;
    long left = ChronoUnit.DAYS.between(today, last);
    BigDecimal pace = status.spent().divide(BigDecimal.valueOf(passed), 6, RoundingMode.HALF_EVEN);
    BigDecimal forecast =
        status
            .spent()
            .add(pace.multiply(BigDecimal.valueOf(left)))
            .setScale(status.spent().scale(), RoundingMode.HALF_EVEN);
    Optional<LocalDate> exhausted = Optional.empty();
    if (left > 0 && forecast.compareTo(amount) > 0 && pace.signum() > 0) {
      long days =
          amount
              .subtract(status.spent())
              .max(BigDecimal.ZERO)
              .divide(pace, 0, RoundingMode.CEILING)
              .longValue();
      exhausted = Optional.of(today.plusDays(days));
    }
    return new BudgetOutlook(
        status.name(),
        status.period(),
        status.standing(),
        currency,
        amount,
        status.spent(),
        status.reserved(),
        first,
        last,
        today,
        byDay,
        left == 0 ? Optional.empty() : Optional.of(pace),
        left == 0 ? Optional.empty() : Optional.of(forecast),
        exhausted);
  }
}
