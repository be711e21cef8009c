package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PriceBook.TokenPrice;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Plans;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenRatesTest {
  private static final String BOOK =
      """
      currency: USD
      as_of: 2026-01-01
      cpu_hour: {price: 0.04, source: list of 2026}
      api_tokens:
        org/teacher-1:
          input: {price: 0.15, source: list of 2026}
          output: {price: 0.60, source: list of 2026}
      """;

  private static final String MORE =
      BOOK
          + """
          valid_until: 2026-12-31
          overrides:
            - valid_from: 2026-07-01
              api_tokens:
                org/teacher-1:
                  input: {price: 0.10, source: list of 2026-07}
                  output: {price: 0.40, source: list of 2026-07}
            - match: {account: nlp}
              discount: {percent: 20, source: agreement 4}
            - match: {account: own}
              api_tokens:
                new-2:
                  input: {price: 1, source: contract 5 of 2026}
                  output: {price: 2, source: contract 5 of 2026}
              valid_until: 2026-03-31
          """;

  /** One task for an hour: 3690 s of 1 CPU, 1.025 x 0.04 = 0.041. */
  private static final String GENERATE =
      """
      stage: generate
      backend: data
      data:
        generate:
          requests: ['${shared}/requests.jsonl']
          url: https://teacher.example/v1
          model: org/teacher-1
          max_input_tokens: 2000001
          max_output_tokens: 500000
      resources: {time: 60m, cpus_per_task: 1}
      """;

  @ParameterizedTest(name = "[{0}]")
  @CsvSource({"'', 0.04", "requeues: 3, 0.16", "'array: {shards: 7}', 0.29"})
  void theTokensAreThoseOfTheWholeRunHoweverManyTasksAndAttemptsItHas(String line, String cpus) {
    Estimate estimate = estimate(GENERATE + line + "\n", BOOK);

    // 2.000001 x 0.15 = 0.30000015; 0.5 x 0.60 = 0.30
    assertThat(estimate.reservation())
        .extracting(
            one -> one.what() + " " + one.quantity().stripTrailingZeros() + " " + one.unit())
        .endsWith(
            "api_tokens:org/teacher-1 input 2.000001 million_tokens",
            "api_tokens:org/teacher-1 output 0.5 million_tokens");
    assertThat(estimate.reservation())
        .extracting(one -> one.amount().toString())
        .containsExactly(cpus + " USD", "0.30 USD", "0.30 USD");
    assertThat(estimate.tokensCost()).hasToString("0.60 USD");
    assertThat(estimate.total().amount()).isEqualByComparingTo(new BigDecimal(cpus).add(SIXTY));
  }

  private static final BigDecimal SIXTY = new BigDecimal("0.60");

  @Test
  void theDocumentHasTheTokensAndTheirPricesAndComesBackAsItWas() {
    Estimate estimate = estimate(GENERATE, BOOK);

    EstimateFile file =
        EstimateFile.parse(Json.pretty(EstimateFile.of(estimate, false).json()), "estimate.json");

    assertThat(file.json().object("api_tokens"))
        .hasToString(
            "{\"model\":\"org/teacher-1\",\"max_input\":2000001,\"max_output\":500000,\"cost\":\"0.60\"}");
    assertThat(file.rates()).isEqualTo(estimate.rates());
    assertThat(file.apiTokens()).isEqualTo(estimate.apiTokens());
    assertThat(file.reservedTokens()).isEqualTo(estimate.tokensCost().amount());
    assertThat(file.reserved()).isEqualByComparingTo("0.64");
    assertThat(estimate.at(estimate.rates())).isEqualTo(estimate);
  }

  @Test
  void aRerunReservesAllOfThemAgainBecauseTheFirstReservationIsGone() {
    Plan plan = plan(GENERATE + "array: {shards: 7}\n", BOOK);
    Rates rates = rates(plan, BOOK);
    PlanFile kept = PlanFile.parse(Json.pretty(PlanFile.of(plan).json()), "plan.json");

    Estimate again = Estimate.again(kept, plan.digest(), rates, 1, 1);

    assertThat(again.total()).hasToString("0.64 USD");
  }

  @Test
  void anotherRunHasNoTraceOfThem() {
    Estimate estimate =
        estimate("stage: data\nbackend: shell\nrun: echo\nresources: {time: 60m}\n", BOOK);

    assertThat(Json.pretty(EstimateFile.of(estimate, false).json())).doesNotContain("token");
    assertThat(estimate.apiTokens()).isEmpty();
    assertThat(estimate.tokensCost()).hasToString("0.00 USD");
  }

  @Test
  void aTeacherOnOurGpusIsNotPaidByTheToken() {
    String own =
        """
        stage: generate
        backend: vllm
        model_name: mistral-7b
        data: {generate: {requests: ['${shared}/requests.jsonl'], max_output_tokens: 5}}
        resources: {time: 60m}
        """;

    assertThat(plan(own, BOOK).payload().apiTokens()).isEmpty();
  }

  @Test
  void aModelWithoutAPriceIsAnErrorThatSaysWhichKeyToAdd() {
    assertThatThrownBy(
            () -> estimate(GENERATE.replace("model: org/teacher-1", "model: org/teacher-2"), BOOK))
        .isInstanceOfSatisfying(
            NexaException.class,
            wrong -> {
              assertThat(wrong)
                  .hasMessage(
                      "price book 'mine' has no price for the API's model 'org/teacher-2'; it has"
                          + " org/teacher-1");
              assertThat(wrong.advice())
                  .containsExactly(
                      Advice.step(
                          "write into configs/prices/mine.yaml, below api_tokens: \"org/teacher-2\":"
                              + " {input: {price: P, source: S}, output: {price: Q, source: S}}. P and Q"
                              + " are the prices of 10^6 tokens, S says where they come from"
                              + " (`nexa-slurm explain docs/prices.md`)"));
            });
    String line =
        "  \"org/teacher-2\": {input: {price: 1, source: S}, output: {price: 2, source: S}}\n";
    assertThat(
            estimate(GENERATE.replace("model: org/teacher-1", "model: org/teacher-2"), BOOK + line)
                .tokensCost())
        .hasToString("3.00 USD");
    assertThatThrownBy(
            () -> estimate(GENERATE, "currency: USD\nas_of: 2026-01-01\n" + DATED_BY_THE_WAY))
        .hasMessage("price book 'mine' has no price for the API's model 'org/teacher-1'");
  }

  private static final String DATED_BY_THE_WAY = "valid_from: 2026-01-01\n";

  @Test
  void ratesOfARunWithoutTheModelAreAnErrorAndNotFree() {
    Estimate estimate = estimate(GENERATE, BOOK);
    Rates others =
        rates(plan("stage: data\nbackend: shell\nrun: echo\nresources: {time: 5m}\n", BOOK), BOOK);

    assertThatThrownBy(() -> estimate.at(others))
        .hasMessageContaining("have no price for the API's model 'org/teacher-1'");
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource({
    "org/teacher-1, x,   2026-06-30, 0.15, 0.60, list of 2026",
    "org/teacher-1, x,   2026-07-01, 0.10, 0.40, list of 2026-07",
    "org/teacher-1, nlp, 2026-03-01, 0.12, 0.48, list of 2026; 0.15 less 20 %: agreement 4",
    "new-2,         own, 2026-03-31, 1,    2,    contract 5 of 2026",
  })
  void accountsAndDaysHaveTheirOwnPrices(
      String model, String account, String day, String input, String output, String source) {
    TokenPrice price = rates(MORE, key(account, day, model)).apiTokens().get(model);

    assertThat(price.input().price()).isEqualByComparingTo(input);
    assertThat(price.output().price()).isEqualByComparingTo(output);
    assertThat(price.input().source()).isEqualTo(source);
  }

  @Test
  void aPriceOfAnotherDayIsAnErrorThatNamesTheDay() {
    assertThatThrownBy(() -> rates(MORE, key("own", "2026-04-01", "new-2")))
        .hasMessageContaining("price book 'mine' has no price for api_tokens.new-2 on 2026-04-01")
        .hasMessageContaining("was valid until 2026-03-31");
    assertThatThrownBy(() -> rates(MORE, key("x", "2027-01-01", "org/teacher-1")))
        .hasMessageContaining("no price for cpu_hour on 2027-01-01");
    String tokensOnly = MORE.replaceAll("(?m)^cpu_hour.*\n", "");
    assertThatThrownBy(() -> rates(tokensOnly, key("x", "2027-01-01", "org/teacher-1")))
        .hasMessageContaining("no price for api_tokens.org/teacher-1 on 2027-01-01")
        .hasMessageContaining("0.40 (list of 2026-07), was valid until 2026-12-31");
    assertThatThrownBy(() -> rates(MORE, key("x", "2026-03-01", "new-2")))
        .hasMessageContaining("has no price for the API's model 'new-2'");
  }

  /** The amounts are computed again with whole numbers only. */
  @Test
  void anyTokensAtAnyPriceAreRoundedOnceForEachLine() {
    SplittableRandom random = new SplittableRandom(14);
    for (int i = 0; i < 20_000; i++) {
      BigInteger tokens = BigInteger.valueOf(random.nextLong(1L << random.nextInt(1, 50)));
      long price = random.nextLong(1, 1L << random.nextInt(1, 34));
      String currency = random.nextBoolean() ? "USD" : "JPY";
      Rates rates = rates(new BigDecimal(BigInteger.valueOf(price), 8), currency);

      List<CostLine> lines =
          rates.tokens(new ApiTokens("m", new BigDecimal(tokens), BigDecimal.ZERO));

      // In units of 10^-14 of the currency; a cent is 10^12 of them, a yen 10^14.
      BigInteger exact = tokens.multiply(BigInteger.valueOf(price));
      BigInteger minor = BigInteger.TEN.pow(currency.equals("USD") ? 12 : 14);
      BigInteger[] parts = exact.divideAndRemainder(minor);
      int half = parts[1].shiftLeft(1).compareTo(minor);
      boolean up = half > 0 || (half == 0 && parts[0].testBit(0));
      BigInteger expected = up ? parts[0].add(BigInteger.ONE) : parts[0];
      assertThat(lines.get(0).amount().amount())
          .isEqualTo(new BigDecimal(expected, currency.equals("USD") ? 2 : 0));
      assertThat(lines.get(0).quantity().movePointRight(6).toBigIntegerExact()).isEqualTo(tokens);
      assertThat(lines.get(1).amount().amount()).isZero();
      JsonObject json = CostLine.toJson(lines).get(0);
      assertThat(new BigDecimal(json.text("quantity")).movePointRight(6).toBigIntegerExact())
          .isEqualTo(tokens);
    }
  }

  private static Rates rates(BigDecimal price, String currency) {
    Price one = new Price(price, "list");
    return new Rates(
        "book",
        "2026-01-01",
        "d",
        currency,
        Map.of(),
        Map.of(),
        BillingMode.PLAIN,
        Map.of("m", new TokenPrice(one, one)));
  }

  private static PriceKey key(String account, String day, String model) {
    return new PriceKey(
        "any",
        Optional.of("cpu"),
        Optional.of(account),
        LocalDate.parse(day),
        List.of(),
        Optional.empty(),
        Optional.empty(),
        "sum",
        List.of(model));
  }

  private static PriceBook book(String book) {
    return new ConfigFolder().with("configs/prices/mine.yaml", book).reader().prices("mine");
  }

  private static Rates rates(String book, PriceKey key) {
    return Rates.of(book(book), key);
  }

  private static Rates rates(Plan plan, String book) {
    ConfigFolder folder = folder(book);
    PriceKey key = PriceKey.of(plan, folder.reader().cluster("mine"), LocalDate.of(2026, 3, 1));
    return Rates.of(book(book), key);
  }

  private static ConfigFolder folder(String book) {
    return new ConfigFolder()
        .with("configs/prices/mine.yaml", book)
        .with("configs/clusters/mine.yaml", Plans.CLUSTER);
  }

  private static Plan plan(String config, String book) {
    return Plans.of(folder(book).with("run.yaml", config));
  }

  private static Estimate estimate(String config, String book) {
    Plan plan = plan(config, book);
    return Estimate.of(plan, rates(plan, book));
  }
}
