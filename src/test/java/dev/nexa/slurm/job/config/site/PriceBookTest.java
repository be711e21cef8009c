package dev.nexa.slurm.job.config.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PriceBookTest {

  @Test
  void aPriceIsExactAndSaysWhereItIsFrom() {
    String text =
        """
        currency: EUR
        as_of: 2026-11-01
        gpu_hour: {h100: {price: 5.50, source: "contract 17"}}
        cpu_hour: {price: 0.04, source: "contract 17"}
        """;

    PriceBook book = read(text);

    assertThat(book.currency()).isEqualTo("EUR");
    assertThat(book.asOf()).isEqualTo(LocalDate.of(2026, 11, 1));
    assertThat(book.digest()).isEqualTo(Sha256.of(text));
    assertThat(book.prices().gpuHour().get("h100"))
        .isEqualTo(new PriceBook.Price(new BigDecimal("5.50"), "contract 17"));
    assertThat(book.prices().of(PricedUnit.CPU))
        .map(PriceBook.Price::price)
        .contains(new BigDecimal("0.04"));
  }

  @Test
  void tokensOfAnApiArePricedByModel() {
    PriceBook book =
        read(
            """
            currency: USD
            as_of: 2026-11-01
            api_tokens:
              org/teacher-1.5:
                input: {price: 2.50, source: "list"}
                output: {price: 10, source: "contract"}
            """);

    assertThat(book.prices().apiTokens())
        .containsOnly(
            java.util.Map.entry(
                "org/teacher-1.5",
                new PriceBook.TokenPrice(
                    new PriceBook.Price(new BigDecimal("2.50"), "list"),
                    new PriceBook.Price(new BigDecimal("10"), "contract"))));
  }

  @Test
  void aPriceThatIsNotThereIsUnknownNotZero() {
    PriceBook book = read("currency: EUR\nas_of: 2026-11-01\n");

    assertThat(book.prices().gpuHour()).isEmpty();
    assertThat(book.prices().of(PricedUnit.CPU)).isEmpty();
    assertThat(book.prices().of(PricedUnit.MEMORY)).isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          cpu_hour: {price: -1, source: x}    | 3:19: cpu_hour.price: expected an amount of money, zero or more, got -1
          cpu_hour: {price: 1}                | 3:11: cpu_hour.source: missing; expected text
          cpu_hour: {price: 1e400, source: x} | 3:19: cpu_hour.price: expected an amount of money, zero or more of ordinary size, got '1e400'
          gpu_hour: {h100: 5.50}              | 3:18: gpu_hour.h100: expected a mapping of keys, got a number '5.50'
          gpu_hour: {'h 100': {price: 1, source: x}} | 3:12: gpu_hour.h 100: expected a name of letters, digits, '.', '_' and '-', got 'h 100'
          """)
  void aBadPriceIsToldWithItsPlace(String line, String problem) {
    assertThatThrownBy(() -> read("currency: EUR\nas_of: 2026-11-01\n" + line + "\n"))
        .isInstanceOf(ConfigException.class)
        .hasMessageEndingWith("mine.yaml:" + problem);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          2026-02-30 | expected a date such as 2026-11-01, got '2026-02-30'
          01.11.2026 | expected a date such as 2026-11-01, got '01.11.2026'
          """)
  void aDayIsOneOfTheCalendar(String day, String problem) {
    assertThatThrownBy(() -> read("currency: EUR\nas_of: " + day + "\n"))
        .hasMessageEndingWith("mine.yaml:2:8: as_of: " + problem);
  }

  @Test
  void aCurrencyIsACode() {
    assertThatThrownBy(() -> read("currency: dollars\nas_of: 2026-11-01\n"))
        .hasMessageEndingWith(
            "mine.yaml:1:11: currency: expected an ISO 4217 code such as USD, got 'dollars'");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          gpu_hour: {h100: {source: x}}                             | 3:18: gpu_hour.h100: expected either price, or share and of (share: 1/7, of: h100), and source
          gpu_hour: {a: {share: 1/7, of: b, source: x}}             | 3:32: gpu_hour.a.of: gpu_hour gives no price of 'b' to take a part of
          gpu_hour: {a: {share: 8/7, of: h, source: x}, h: {price: 1, source: x}} | 3:23: gpu_hour.a.share: is more than the whole: 8/7
          gpu_hour: {a: {share: 0.5, of: h, source: x}}             | 3:23: gpu_hour.a.share: expected a part of a GPU such as 1/7, got a number '0.5'; put it in quotes: "0.5"
          valid_until: 2026-01-01\\nvalid_from: 2026-01-02          | 3:14: valid_until: is before valid_from: 2026-01-01, 2026-01-02
          overrides: [{match: {cluster: a}}]                        | 3:13: overrides[0]: gives neither a price nor a discount
          overrides: [{cpu_hour: {price: 1, source: x}}]            | 3:13: overrides[0]: holds for every run on every day: say match or valid_from, or put it on top
          overrides: [{match: {user: ada}, cpu_hour: {price: 1, source: x}}] | 3:22: overrides[0].match.user: unknown key; known are cluster, partition, account
          overrides: [{match: {account: a}, discount: {percent: 120, source: x}}] | 3:55: overrides[0].discount.percent: expected 0 to 100, got 120
          overrides: [{match: {account: a}, cpu_hour: {price: 1, source: x}, billing_hour: {price: 1, source: x}}] | 3:82: overrides[0].billing_hour: is charged instead of cpu_hour: leave one of them out here
          """)
  void whatCanNotBeMeantIsToldWithItsPlace(String line, String problem) {
    String text = "currency: EUR\nas_of: 2026-11-01\n" + line.replace("\\n", "\n") + "\n";

    assertThatThrownBy(() -> read(text))
        .isInstanceOf(ConfigException.class)
        .hasMessageEndingWith("mine.yaml:" + problem);
  }

  @Test
  void everyBookOfTheAdminsPageIsRead() throws IOException {
    String page = Files.readString(Path.of("docs/prices.md"));
    Matcher block = Pattern.compile("(?s)```yaml\\n(.*?)```").matcher(page);
    int books = 0;
    while (block.find()) {
      assertThat(read(block.group(1)).asOf()).isEqualTo(LocalDate.of(2026, 1, 1));
      books++;
    }
    assertThat(books).isEqualTo(8);
  }

  private static PriceBook read(String text) {
    return new ConfigFolder().with("configs/prices/mine.yaml", text).reader().prices("mine");
  }
}
