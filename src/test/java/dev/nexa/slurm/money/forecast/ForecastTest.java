package dev.nexa.slurm.money.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ForecastTest {
  private static final LocalDate FIRST = LocalDate.parse("2026-11-01");
  private static final LocalDate LAST = LocalDate.parse("2026-11-30");

  @ParameterizedTest
  @CsvSource({
    "100.00, 2026-11-11T00:00:00Z, 300.00",
    "100.00, 2026-11-02T00:00:00Z, 3000.00",
    "100.01, 2026-11-30T23:59:59Z, 100.01",
    "100.00, 2026-12-01T00:00:00Z, 100.00",
    "100.00, 2027-01-01T00:00:00Z, 100.00",
    "  0.00, 2026-11-11T00:00:00Z, 0.00",
    " -3.00, 2026-11-11T00:00:00Z, -9.00",
  })
  void aPeriodCostsItsRateTimesItsLength(String spent, Instant now, String total) {
    assertThat(forecast(spent, now).total()).contains(dollars(total));
  }

  @ParameterizedTest
  @CsvSource({"2026-11-01T23:59:59Z", "2026-11-01T00:00:00Z", "2026-10-01T00:00:00Z"})
  void thereIsNoForecastInTheFirstDay(Instant now) {
    assertThat(forecast("10.00", now).total()).isEmpty();
    assertThat(forecast("10.00", now).reaches(dollars("11.00"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "100.00, 2026-11-11T00:00:00Z, 150.00, 2026-11-16",
    "100.00, 2026-11-11T00:00:00Z, 299.99, 2026-11-30",
    "100.00, 2026-11-11T00:00:00Z, 300.00, ",
    "100.00, 2026-11-11T00:00:00Z, 100.00, 2026-11-11",
    "100.00, 2026-11-11T00:00:00Z, 99.99, ",
    "  0.00, 2026-11-11T00:00:00Z, 99.99, ",
    "100.00, 2026-12-11T00:00:00Z, 150.00, ",
  })
  void anAmountIsReachedOnADayOfThePeriod(String spent, Instant now, String amount, LocalDate on) {
    assertThat(forecast(spent, now).reaches(dollars(amount))).isEqualTo(Optional.ofNullable(on));
  }

  @Test
  void aBudgetIsUsedUpOnADayThatIsKnownOrExpected() {
    SpendByDay spend = new SpendByDay("USD");
    spend.add(LocalDate.parse("2026-11-02"), new BigDecimal("30.00"));
    spend.add(LocalDate.parse("2026-11-05"), new BigDecimal("20.00"));
    spend.add(LocalDate.parse("2026-10-05"), new BigDecimal("999.00"));
    Instant now = Instant.parse("2026-11-11T00:00:00Z");

    BurnDown used = BurnDown.of(dollars("50.00"), spend, FIRST, LAST, now);
    BurnDown later = BurnDown.of(dollars("60.00"), spend, FIRST, LAST, now);
    BurnDown lasts = BurnDown.of(dollars("150.00"), spend, FIRST, LAST, now);

    assertThat(used.usedUpOn()).contains(LocalDate.parse("2026-11-05"));
    assertThat(used.expectedOn()).isEmpty();
    assertThat(later.usedUpOn()).isEmpty();
    assertThat(later.usedUp()).contains(LocalDate.parse("2026-11-13"));
    assertThat(lasts.usedUp()).isEmpty();
    assertThat(lasts.forecast().total()).contains(dollars("150.00"));
    assertThat(later.days()).hasSize(11);
    assertThat(later.days().get(4))
        .isEqualTo(
            new BurnDown.Day(
                LocalDate.parse("2026-11-05"),
                new BigDecimal("20.00"),
                new BigDecimal("50.00"),
                new BigDecimal("10.00"),
                new BigDecimal("50.00")));
  }

  /** The days of a period add up to its sum, and each day's rest is the budget minus them. */
  @Test
  void theDaysAddUp() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      SpendByDay spend = new SpendByDay("USD");
      BigDecimal sum = BigDecimal.ZERO;
      for (int i = random.nextInt(20); i >= 0; i--) {
        BigDecimal cents = BigDecimal.valueOf(random.nextInt(100_000) - 1000L, 2);
        spend.add(FIRST.plusDays(random.nextInt(30)), cents);
        sum = sum.add(cents);
      }
      Money budget = dollars("" + (1 + random.nextInt(2000)) + ".00");
      BurnDown down =
          BurnDown.of(budget, spend, FIRST, LAST, Instant.parse("2026-12-01T00:00:00Z"));
      List<BurnDown.Day> days = down.days();

      assertThat(days).as("seed %d", seed).hasSize(30);
      assertThat(days.get(29).soFar()).isEqualByComparingTo(sum);
      assertThat(days.get(29).left()).isEqualByComparingTo(budget.amount().subtract(sum));
      assertThat(down.forecast().spent().amount()).isEqualByComparingTo(sum);
      boolean everUsedUp = days.stream().anyMatch(day -> day.left().signum() <= 0);
      assertThat(down.usedUpOn().isPresent()).isEqualTo(everUsedUp);
    }
  }

  private static Forecast forecast(String spent, Instant now) {
    return Forecast.linear(dollars(spent), FIRST, LAST, now);
  }

  private static Money dollars(String amount) {
    return new Money(new BigDecimal(amount.strip()), "USD");
  }
}
