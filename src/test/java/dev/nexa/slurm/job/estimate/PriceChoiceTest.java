package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PricedUnit;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PriceChoiceTest {
  private static final String BOOK =
      """
      currency: EUR
      as_of: 2026-01-01
      valid_until: 2026-12-31
      gpu_hour:
        h100: {price: 5.50, source: contract 17}
        a100: {price: 3.75, source: contract 17}
        1g.10gb: {share: 1/7, of: h100, source: MIG profile}
      shard_hour:
        h100: {share: 1/8, of: h100, source: 8 shards a GPU}
      cpu_hour: {price: 0.04, source: contract 17}
      memory_gib_hour: {price: 0.005, source: contract 17}
      overrides:
        - valid_from: 2026-07-01
          gpu_hour: {h100: {price: 5.00, source: contract 18}}
        - match: {cluster: big}
          gpu_hour: {h100: {price: 6.00, source: big}}
        - match: {partition: long}
          gpu_hour: {h100: {price: 6.50, source: long}}
          node_hour: {price: 40, source: whole nodes of long}
        - match: {cluster: big, partition: long}
          gpu_hour: {h100: {price: 7.00, source: big and long}}
        - match: {partition: billed}
          billing_hour: {price: 0.02, source: billing}
        - match: {account: nlp}
          discount: {percent: 20, source: agreement 4}
        - match: {account: own}
          gpu_hour: {h100: {price: 1.00, source: their own nodes}}
          valid_until: 2026-06-30
      """;

  @ParameterizedTest(name = "{0} {1} {2} {3}")
  @CsvSource({
    "any, gpu,  x,   2026-03-01, 5.50, contract 17",
    "any, gpu,  x,   2026-07-01, 5.00, contract 18",
    "big, gpu,  x,   2026-07-01, 6.00, big",
    "any, long, x,   2026-07-01, 6.50, long",
    "big, long, x,   2026-07-01, 7.00, big and long",
    "big, long, own, 2026-06-30, 1.00, their own nodes",
    "big, long, own, 2026-07-01, 7.00, big and long",
    "any, gpu,  nlp, 2026-03-01, 4.4,  contract 17; 5.50 less 20 %: agreement 4",
    "big, gpu,  nlp, 2026-03-01, 4.8,  big; 6.00 less 20 %: agreement 4",
  })
  void theMostSpecificPriceHolds(
      String cluster, String partition, String account, String day, String price, String source) {
    Rates rates = rates(key(cluster, partition, account, day, "h100"));

    assertThat(rates.gpuHour()).containsEntry("h100", new Price(new BigDecimal(price), source));
  }

  @Test
  void aPriceThatAnEntryDoesNotGiveIsTheOneBelowIt() {
    Rates rates = rates(key("big", "gpu", "x", "2026-03-01", "a100"));

    assertThat(rates.gpuHour().get("a100").price()).isEqualTo("3.75");
    assertThat(rates.units().get(PricedUnit.CPU))
        .extracting(Price::price)
        .isEqualTo(new BigDecimal("0.04"));
  }

  @Test
  void aPartOfAGpuIsWorkedOutFromWhatTheWholeCostsThere() {
    Rates rates = rates(key("any", "long", "nlp", "2026-07-01", "1g.10gb"));

    assertThat(rates.gpuHour().get("1g.10gb"))
        .isEqualTo(
            new Price(
                new BigDecimal("0.742857144"),
                "1/7 of h100 at 6.50 (long): MIG profile; 0.92857143 less 20 %: agreement 4"));
    assertThat(rates.terms().shardHour().get("h100").price()).isEqualTo("0.65");
  }

  @Test
  void aShardIsChargedAndAWholeGpuIsNotChargedTwice() {
    Rates rates = rates(key("any", "gpu", "x", "2026-03-01", "h100"));
    Usage shards =
        Usage.of(Map.of(), 4, 0, 3600)
            .holding(Map.of("h100", 2L), OptionalLong.of(1), OptionalLong.empty(), 3600);

    assertThat(rates.price(shards))
        .extracting(line -> line.what() + " " + line.amount())
        .containsExactly("shard:h100 1.38 EUR", "cpu 0.16 EUR", "memory 0.00 EUR");
    assertThat(shards.gpuHours()).isEqualByComparingTo("0");
  }

  @Test
  void aShardWithoutAPriceIsAnErrorNotFree() {
    Rates rates = Rates.fromJson(rates(key("any", "gpu", "x", "2026-03-01", "h100")).toJson());
    Usage shards =
        Usage.NONE.holding(Map.of("l40s", 2L), OptionalLong.empty(), OptionalLong.empty(), 3600);

    assertThatThrownBy(() -> rates.price(shards))
        .hasMessage("price book 'mine' has no price for a shard of GPU type 'l40s'; it has h100");
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          2027-01-01 | h100 | price book 'mine' has no price for gpu_hour.h100 on 2027-01-01: the last one, 5.00 (contract 18), was valid until 2026-12-31 (WHERE:11:5)
          2025-12-31 | a100 | none
          2027-01-01 | a100 | price book 'mine' has no price for gpu_hour.a100 on 2027-01-01: the last one, 3.75 (contract 17), was valid until 2026-12-31 (WHERE:1:1)
          """)
  void aDayWithoutAPriceNamesTheLastOne(String day, String type, String message) {
    String book = BOOK.replaceAll("(?m)^(cpu|memory).*\\n", "");
    if (message.equals("none")) {
      assertThat(rates(book, key("any", "gpu", "x", day, "h100")).gpuHour()).containsKey("h100");
      return;
    }

    assertThatThrownBy(() -> rates(book, key("any", "gpu", "x", day, type)))
        .isInstanceOf(NexaException.class)
        .hasMessage(message.replace("WHERE", ConfigFolder.PATH + "/configs/prices/mine.yaml"));
  }

  @Test
  void aCpuPriceThatHasEndedIsNotFree() {
    PriceKey onlyCpus = key("any", "gpu", "x", "2027-01-01", "h100").holding(List.of());

    assertThatThrownBy(() -> rates(onlyCpus))
        .hasMessageContaining("has no price for cpu_hour on 2027-01-01: the last one, 0.04");
  }

  @Test
  void aPartOfAGpuWhosePriceHasEndedSaysSo() {
    String book =
        """
        currency: EUR
        as_of: 2026-01-01
        gpu_hour: {1g.10gb: {share: 1/7, of: h100, source: MIG profile}}
        overrides:
          - valid_until: 2026-06-30
            gpu_hour: {h100: {price: 5.50, source: contract 17}}
        """;

    assertThatThrownBy(() -> rates(book, key("any", "gpu", "x", "2026-07-01", "1g.10gb")))
        .isInstanceOf(NexaException.class)
        .hasMessage(
            "price book 'mine' has no price for gpu_hour.h100 on 2026-07-01,"
                + " of which gpu_hour.1g.10gb is 1/7: the last one, 5.50 (contract 17), was valid"
                + " until 2026-06-30 ("
                + ConfigFolder.PATH
                + "/configs/prices/mine.yaml:5:5)");
  }

  @Test
  void usageThatWasPlannedUnderOneBookIsPricedByAnothersNodes() {
    Rates parts = rates(key("any", "gpu", "x", "2026-03-01", "h100"));
    Rates billed =
        rates(key("any", "billed", "x", "2026-03-01", "h100", Optional.empty(), "Node=10,CPU=0.5"));
    Rates nodes =
        rates(key("any", "long", "x", "2026-03-01", "h100", Optional.of(64), "GRES/gpu=1"));

    Usage planned = parts.usage(Map.of("h100", 2L), 8, 0, 3, 3600).times(2);

    assertThat(billed.unrounded(planned)).isEqualByComparingTo("1.36"); // 68 units at 0.02
    assertThat(nodes.unrounded(planned)).isEqualByComparingTo("240");
    Usage unknown = Usage.of(Map.of("h100", 2L), 8, 0, 3600);
    assertThatThrownBy(() -> billed.price(unknown))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("Node=10,CPU=0.5")
        .hasMessageContaining("it is not known how many nodes");
  }

  @Test
  void aPriceIsAPlainNumberOfOrdinarySize() {
    String json = Json.pretty(rates(key("any", "gpu", "x", "2026-03-01", "h100")).toJson());
    for (String price : List.of("1e2147483600", "-1", "0x1", "", ".5", "5.", "9".repeat(40))) {
      assertThatThrownBy(
              () -> Rates.fromJson(Json.parseObject(json.replace("\"5.50\"", "\"" + price + "\""))))
          .as(price)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected a plain number");
    }
  }

  @Test
  void theBooksDaysBoundItsOverrides() {
    PriceKey day = key("big", "gpu", "x", "2027-01-01", "h100");

    assertThatThrownBy(() -> rates(day))
        .isInstanceOfSatisfying(
            NexaException.class,
            wrong ->
                assertThat(wrong.advice().get(0).text())
                    .startsWith("valid_from and valid_until on top of configs/prices/mine.yaml"))
        .hasMessageContaining("the last one, 6.00 (big), was valid until 2026-12-31");
    String later = BOOK.replace("valid_until: 2026-12-31", "valid_from: 2026-02-01");
    assertThatThrownBy(() -> rates(later, key("big", "gpu", "x", "2026-01-31", "h100")))
        .hasMessageContaining("begins on 2026-02-01");
  }

  @Test
  void aSkyPilotConfigIsToldWhereToWriteTheRate() {
    String sky = "slurm: {pricing: {accelerators: {A100: 3.50}}}\nas_of: 2026-01-01\n";

    assertThatThrownBy(() -> rates(sky, key("any", "gpu", "x", "2026-03-01", "H100")))
        .isInstanceOfSatisfying(
            NexaException.class,
            wrong ->
                assertThat(wrong.advice())
                    .containsExactly(
                        Advice.step(
                            "add H100 under slurm.pricing.accelerators in configs/prices/mine.yaml")))
        .hasMessage("price book 'mine' has no price for GPU type 'H100'; it has A100");
  }

  @Test
  void aPriceThatBeginsLaterIsNamed() {
    String book = BOOK.replace("valid_until: 2026-12-31", "valid_from: 2026-02-01");

    assertThatThrownBy(() -> rates(book, key("any", "gpu", "x", "2026-01-31", "a100")))
        .hasMessageContaining(
            "on 2026-01-31: the first one, 3.75 (contract 17), begins on 2026-02");
  }

  @Test
  void wholeNodesAreChargedInsteadOfTheirParts() {
    PriceKey whole = key("any", "long", "nlp", "2026-03-01", "h100", Optional.of(64), "CPU=1");
    Rates rates = rates(whole);

    Usage planned = rates.usage(Map.of("h100", 16L), 128, 1L << 40, 2, 1800);
    assertThat(rates.price(planned))
        .extracting(line -> line.what() + " " + line.quantity() + " " + line.amount())
        .containsExactly("node 1.0000 32.00 EUR");
    Usage counted = Usage.of(Map.of("h100", 16L), 128, 1L << 40, 1800);
    assertThat(rates.unrounded(counted)).isEqualByComparingTo(rates.unrounded(planned));
    assertThat(rates.gpuHour()).isEmpty();
  }

  @Test
  void billingUnitsAreSlurmsOwn() {
    Rates rates =
        rates(
            key(
                "any",
                "billed",
                "x",
                "2026-03-01",
                "h100",
                Optional.empty(),
                "CPU=0.7,Mem=0.25G,GRES/gpu=2"));

    Usage planned = rates.usage(Map.of("h100", 2L), 3, 8L << 30, 1, 7200);

    // 2.1 + 2 + 4, cut.
    assertThat(planned.billingSeconds()).hasValue(8 * 7200);
    assertThat(rates.price(planned))
        .extracting(line -> line.what() + " " + line.quantity() + " " + line.amount())
        .containsExactly("billing 16.0000 0.32 EUR");
    assertThat(rates.billingUnits("billing=5,cpu=3,mem=8G,gres/gpu=2")).hasValue(5);
    assertThat(rates.billingUnits("cpu=3,mem=8G,gres/gpu=2")).hasValue(8);
    Usage uncounted = Usage.of(Map.of("h100", 2L), 3, 8L << 30, 7200);
    assertThat(rates.unrounded(uncounted)).isEqualByComparingTo("0.324");
  }

  @Test
  void unknownWeightsAreAnError() {
    PriceKey key =
        new PriceKey(
            "any",
            Optional.of("billed"),
            Optional.empty(),
            LocalDate.of(2026, 3, 1),
            List.of(),
            Optional.empty(),
            Optional.empty(),
            "sum",
            List.of());

    assertThatThrownBy(() -> rates(key))
        .hasMessage(
            "price book 'mine' prices Slurm's billing units, and the cluster profile 'any' does not"
                + " say how they are computed in partition 'billed'");
  }

  @Test
  void weightsThatForgetGpusAreAnErrorForARunThatHoldsSome() {
    PriceKey key = key("any", "billed", "x", "2026-03-01", "h100", Optional.empty(), "CPU=1");

    assertThatThrownBy(() -> rates(key)).hasMessageContaining("say nothing of GPUs");
    PriceKey free =
        key("any", "billed", "x", "2026-03-01", "h100", Optional.empty(), "CPU=1,GRES/gpu=0");
    assertThat(rates(free).terms().billingHour()).isPresent();
  }

  @Test
  void anUnknownPartitionIsAnErrorWherePartitionsDiffer() {
    PriceKey key =
        new PriceKey(
            "any",
            Optional.empty(),
            Optional.empty(),
            LocalDate.of(2026, 3, 1),
            List.of("h100"),
            Optional.empty(),
            Optional.empty(),
            "sum",
            List.of());

    assertThatThrownBy(() -> rates(key)).hasMessageContaining("(billed, long)");
  }

  @Test
  void upperAndLowerCaseOfATypeDoNotMatter() {
    Rates rates = rates(key("any", "gpu", "x", "2026-03-01", "H100"));

    assertThat(rates.price(Usage.of(Map.of("H100", 1L), 0, 0, 3600)).get(0).amount())
        .hasToString("5.50 EUR");
  }

  @Test
  void ratesComeBackFromJsonAsTheyWere() {
    for (String partition : List.of("gpu", "long", "billed")) {
      Rates rates =
          rates(
              key(
                  "any",
                  partition,
                  "x",
                  "2026-03-01",
                  "h100",
                  Optional.of(64),
                  "CPU=1,GRES/gpu=2"));

      assertThat(Rates.fromJson(Json.parseObject(Json.pretty(rates.toJson())))).isEqualTo(rates);
    }
  }

  @Test
  void ratesOfRunsMadeBeforeThereWasMoreAreRead() {
    Rates rates =
        Rates.fromJson(
            Json.parseObject(
                """
                {"book": "default", "as_of": "2025-11-01", "digest": "d1", "currency": "USD",
                 "gpu_hour": {"h100": {"price": "5.50", "source": "list"}},
                 "cpu_hour": {"price": "0.04", "source": "list"}, "memory_gib_hour": null}
                """));

    assertThat(rates.terms()).isEqualTo(BillingMode.PLAIN);
    assertThat(rates.price(Usage.of(Map.of("h100", 1L), 1, 0, 3600)))
        .extracting(line -> line.amount().toString())
        .containsExactly("5.50 USD", "0.04 USD");
  }

  private static PriceKey key(
      String cluster, String partition, String account, String day, String gpu) {
    return key(cluster, partition, account, day, gpu, Optional.empty(), "GRES/gpu=1");
  }

  private static PriceKey key(
      String cluster,
      String partition,
      String account,
      String day,
      String gpu,
      Optional<Integer> nodeCpus,
      String weights) {
    return new PriceKey(
        cluster,
        Optional.of(partition),
        Optional.of(account),
        LocalDate.parse(day),
        List.of(gpu),
        nodeCpus,
        Optional.of(weights),
        "sum",
        List.of());
  }

  private static Rates rates(PriceKey key) {
    return rates(BOOK, key);
  }

  private static Rates rates(String book, PriceKey key) {
    return Rates.of(
        new ConfigFolder().with("configs/prices/mine.yaml", book).reader().prices("mine"), key);
  }
}
