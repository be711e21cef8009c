package dev.nexa.slurm.base.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MoneyTest {

  @ParameterizedTest(name = "{0} x {1} is {3} {2}")
  @CsvSource(
      textBlock =
          """
          # half-even: a half goes to the even neighbour, so that many roundings do not drift
          1,      0.005,  USD, 0.00
          1,      0.015,  USD, 0.02
          1,      0.025,  USD, 0.02
          1,      0.0251, USD, 0.03
          # quantity and price are multiplied exactly before they are rounded, once
          3,      0.3333, USD, 1.00
          0.0334, 5.50,   USD, 0.18
          1,      2.5,    JPY, 2
          1,      3.5,    JPY, 4
          1.5,    1,      KWD, 1.500
          1,      1.234,  EUR, 1.23
          # no country's currency: two decimals, as most have
          1,      1.235,  ZZZ, 1.24
          """)
  void aLineIsRoundedOnceToTheCurrencysMinorUnit(
      BigDecimal quantity, BigDecimal price, String currency, String amount) {
    assertThat(Money.line(quantity, price, currency)).hasToString(amount + " " + currency);
  }

  @Test
  void sumsAndDifferencesAreExact() {
    Money tenth = new Money(new BigDecimal("0.10"), "USD");

    assertThat(tenth.plus(tenth).plus(tenth)).hasToString("0.30 USD");
    assertThat(tenth.minus(tenth.plus(tenth))).hasToString("-0.10 USD");
    assertThat(Money.zero("USD").plus(tenth)).isEqualTo(tenth);
  }

  @Test
  void currenciesAreNeverMixed() {
    Money dollars = Money.zero("USD");
    Money euros = Money.zero("EUR");

    assertThatThrownBy(() -> dollars.plus(euros)).hasMessage("cannot combine USD with EUR");
    assertThatThrownBy(() -> dollars.minus(euros)).hasMessage("cannot combine USD with EUR");
    assertThatThrownBy(() -> dollars.compareTo(euros)).hasMessage("cannot combine USD with EUR");
  }

  @Test
  void isComparedByValueNotByDigits() {
    assertThat(new Money(new BigDecimal("1.5"), "USD"))
        .isEqualByComparingTo(new Money(new BigDecimal("1.50"), "USD"))
        .isLessThan(new Money(new BigDecimal("1.51"), "USD"));
  }

  /** No sum above zero looks like zero, and a bound is never too low. */
  @ParameterizedTest
  @CsvSource({
    "USD, 0.00, 0, 0.00 USD, 0.00",
    "USD, 0.00, 0.0001, less than 0.01 USD, <0.01",
    "USD, 0.00, 0.0100, less than 0.01 USD, <0.01",
    "USD, 0.00, 0.0101, less than 0.02 USD, <0.02",
    "USD, 0.07, 0.0659, 0.07 USD, 0.07",
    "JPY, 0, 0.3, less than 1 JPY, <1",
    "USD, 1234567.50, 1234567.5049, 1234567.50 USD, 1234567.50"
  })
  void aSmallSumIsNotNothing(
      String currency, BigDecimal amount, BigDecimal exact, String words, String cell) {
    Money money = new Money(amount, currency);

    assertThat(money.words(exact)).isEqualTo(words);
    assertThat(money.cell(exact)).isEqualTo(cell);
    assertThat(money.atMost(exact))
        .isEqualTo(words.startsWith("less") ? words : "at most " + words);
  }
}
