package dev.nexa.slurm.money.budgets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.BudgetScope;
import dev.nexa.slurm.job.config.site.Policy.Budget;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.Lines;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BudgetStatusTest {
  private static final LocalDate DAY = LocalDate.parse("2025-11-30");
  private static final String NLP = "'tags': ['project:nlp'], 'user': 'ada', 'account': 'lab', ";

  @Test
  void whatIsSpentAndReservedIsNotLeft() {
    LedgerLine open =
        run(
            "train_20251130_000000",
            "2025-11",
            NLP + dollars("10.00") + ", 'reservation': '40.00'");
    BudgetStatus budget = status("project", "nlp", "month", List.of(open));
    budget.add(run("train_20251101_000000", "2025-11", NLP + dollars("25.50")));
    budget.add(
        run("train_20251102_000000", "2025-11", NLP + dollars("5.00") + ", 'credit': '1.00'"));
    budget.add(run("train_20251003_000000", "2025-10", NLP + dollars("999.00")));
    budget.add(run("train_20251104_000000", "2025-11", dollars("999.00")));
    budget.add(
        run("train_20251105_000000", "2025-11", NLP + "'currency': 'EUR', 'cost': '999.00'"));

    assertThat(budget.spent()).isEqualTo("39.50");
    assertThat(budget.reserved()).isEqualTo("30.00");
    assertThat(budget.remaining()).isEqualTo("30.50");
    assertThat(budget.usedRatio()).contains(new BigDecimal("0.6950"));
    assertThat(budget.runs()).isEqualTo(3);
    assertThat(budget.otherCurrencies()).isEqualTo(1);
  }

  /** Files and egress are spent money, and nothing was reserved for them. */
  @Test
  void whatIsNotReservedDoesNotUseUpTheReservation() {
    String parts = ", 'lines': {'gpu': '4.00', 'egress': '5.00', 'storage': '1.00'}";
    LedgerLine open =
        run(
            "train_20251130_000000",
            "2025-11",
            NLP + dollars("10.00") + parts + ", 'reservation': '40.00'");
    BudgetStatus budget = status("project", "nlp", "month", List.of(open));

    assertThat(budget.spent()).isEqualByComparingTo("10.00");
    assertThat(budget.reserved()).isEqualByComparingTo("36.00");
  }

  @Test
  void aRunThatRunsAgainCountsAsUnfinishedOnly() {
    LedgerLine open =
        run("train_20251101_000000", "2025-11", NLP + dollars("12.00") + ", 'reservation': '8.00'");
    BudgetStatus budget = status("all", "", "month", List.of(open));
    budget.add(run("train_20251101_000000", "2025-11", NLP + dollars("10.00")));

    assertThat(budget.spent()).isEqualTo("12.00");
    assertThat(budget.reserved()).isEqualByComparingTo("0");
  }

  @ParameterizedTest
  @CsvSource({
    "month, 2025-11, 1",
    "quarter, 2025-Q4, 3",
    "year, 2025, 12",
  })
  void aPeriodIsTheCalendars(String period, String name, int months) {
    BudgetStatus budget = status("account", "lab", period, List.of());
    for (int month = 1; month <= 12; month++) {
      String of = String.format("2025-%02d", month);
      budget.add(run("train_" + of.replace("-", "") + "01_000000", of, NLP + dollars("1.00")));
    }
    budget.add(run("train_20240101_000000", "2024-12", NLP + dollars("1.00")));
    budget.add(run("train_20260101_000000", "2026-01", NLP + dollars("1.00")));

    assertThat(budget.period()).isEqualTo(name);
    assertThat(budget.runs()).isEqualTo(months);
  }

  @ParameterizedTest
  @CsvSource({"project, nlp, 1", "account, Lab, 1", "user, ada, 1", "all, '', 2", "user, bob, 0"})
  void aBudgetIsForItsOwnRuns(String scope, String name, int runs) {
    BudgetStatus budget = status(scope, name, "month", List.of());
    budget.add(run("train_20251101_000000", "2025-11", NLP + dollars("1.00")));
    budget.add(run("train_20251102_000000", "2025-11", dollars("1.00")));

    assertThat(budget.runs()).isEqualTo(runs);
  }

  private static BudgetStatus status(
      String scope, String name, String period, List<LedgerLine> open) {
    Money amount = new Money(new BigDecimal("100.00"), "USD");
    return new BudgetStatus(
        new Budget(BudgetScope.of(scope), name, amount, period, 80), DAY, open, new Charges());
  }

  private static String dollars(String cost) {
    return "'currency': 'USD', 'cost': '" + cost + "'";
  }

  private static LedgerLine run(String id, String month, String members) {
    return Lines.run(id, month, members);
  }
}
