package dev.nexa.slurm.money.summary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.money.bills.BillRow;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.ledger.CostKind;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.Lines;
import dev.nexa.slurm.money.summary.CostSummary.Group;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CostSummaryTest {
  private final Charges charges = new Charges();

  @Test
  void groupsAddUpToTheTotalToTheCent() {
    CostSummary summary =
        summary(
            "stage",
            "'stage': 'train', 'status': 'completed', 'currency': 'USD', 'cost': '10.10',"
                + " 'wasted': '0.00', 'credit': '0.10', 'gpu_seconds': 3600, 'cpu_seconds': 7200,"
                + " 'lines': {'gpu': '10.00', 'cpu': '0.10'}",
            "'stage': 'train', 'status': 'failed', 'currency': 'USD', 'cost': '0.20',"
                + " 'wasted': '0.20', 'gpu_seconds': 60, 'lines': {'gpu': '0.20'}",
            "'stage': 'eval', 'status': 'completed', 'currency': 'USD', 'cost': '0.07'");

    assertThat(summary.groups()).hasSize(2);
    Group train = summary.groups().get(0);
    assertThat(train.key()).containsExactly("train");
    assertThat(train.runs()).isEqualTo(2);
    assertThat(train.failed()).isEqualTo(1);
    assertThat(train.gpuSeconds()).isEqualTo(3660);
    assertThat(train.cpuSeconds()).isEqualTo(7200);
    assertThat(train.cost()).isEqualTo("10.30");
    assertThat(train.wasted()).isEqualTo("0.20");
    assertThat(train.total()).isEqualTo("10.20");
    assertThat(train.breakdown())
        .isEqualTo(
            Map.of(CostKind.GPU, new BigDecimal("10.20"), CostKind.CPU, new BigDecimal("0.10")));
    assertThat(summary.totals()).hasSize(1);
    assertThat(summary.totals().get(0).cost()).isEqualTo("10.37");
    assertThat(summary.totals().get(0).runs()).isEqualTo(3);
  }

  @Test
  void moneyOfDifferentCurrenciesIsNeverAdded() {
    CostSummary summary =
        summary(
            "stage",
            "'stage': 'train', 'currency': 'USD', 'cost': '1.00'",
            "'stage': 'train', 'currency': 'JPY', 'cost': '100'");

    assertThat(summary.groups())
        .extracting(group -> group.currency() + " " + group.cost())
        .containsExactly("JPY 100", "USD 1.00");
    assertThat(summary.totals()).extracting(Group::currency).containsExactly("JPY", "USD");
  }

  @Test
  void aRunWithSeveralTagsIsInAGroupOfEachAndOnceInTheTotal() {
    CostSummary summary =
        summary(
            "tag",
            "'tags': ['a', 'b'], 'currency': 'USD', 'cost': '1.00'",
            "'tags': ['b'], 'currency': 'USD', 'cost': '2.00'",
            "'tags': [], 'currency': 'USD', 'cost': '0.50'");

    assertThat(summary.by().overlaps()).isTrue();
    assertThat(summary.groups())
        .extracting(group -> group.key().get(0) + " " + group.cost())
        .containsExactly("b 3.00", "a 1.00", "- 0.50");
    assertThat(summary.totals().get(0).cost()).isEqualTo("3.50");
  }

  @Test
  void projectsPipelinesAndExperimentsAreTagsWithThatPrefix() {
    for (String by : List.of("project", "tag:project")) {
      CostSummary summary =
          summary(
              by,
              "'tags': ['x', 'project:nlp', 'project:second'], 'currency': 'USD', 'cost': '1.00'",
              "'tags': ['projects:cv', 'project'], 'currency': 'USD', 'cost': '2.00'");

      assertThat(summary.groups())
          .extracting(group -> group.key().get(0) + " " + group.cost())
          .containsExactly("- 2.00", "nlp 1.00");
    }
  }

  @Test
  void severalNamesMakeGroupsOfGroups() {
    CostSummary summary =
        summary(
            "month,user",
            "'user': 'ada', 'currency': 'USD', 'cost': '1.00'",
            "'user': 'bob', 'currency': 'USD', 'cost': '2.00'");

    assertThat(summary.groups())
        .extracting(group -> String.join(" ", group.key()))
        .containsExactly("2025-11 ada", "2025-11 bob");
  }

  @Test
  void whatOthersChargedStandsBesideTheCostEachSumOfARunRoundedOnce() {
    charge("api", "0.0049", "USD");
    charge("api", "0.0049", "USD");
    charge("gcp", "8.005", "USD");
    charge("gcp", "1.5", "EUR");
    CostSummary summary = summary("stage", "'stage': 'train', 'currency': 'USD', 'cost': '9.00'");

    assertThat(summary.groups())
        .extracting(
            group ->
                String.join(
                    " ",
                    group.currency(),
                    "" + group.runs(),
                    group.cost().toPlainString(),
                    group.api().toPlainString(),
                    group.total().toPlainString(),
                    group.billed().toPlainString()))
        .containsExactly("EUR 0 0.00 0.00 0.00 1.50", "USD 1 9.00 0.01 9.01 8.00");
    assertThat(summary.unmatched()).isEmpty();
  }

  @ParameterizedTest(name = "imported {0} for {1} tokens: {2} more")
  @CsvSource({
    "1.20, 3500000, 0.00",
    "1.21, 3500000, 0.00",
    "1.00, 3000000, 0.00",
    "1.19, 3600000, 0.00",
    "1.50, 4000000, 0.30"
  })
  void tokensThatTheRunCountedItselfAreNotChargedAgain(String imported, long tokens, String more) {
    charges.add(usage(imported, "USD", tokens));
    String run =
        "'currency': 'USD', 'cost': '9.00', 'lines':"
            + " {'api_tokens': '1.20', 'cpu': '7.80'}, 'quantities': {'api_tokens': '3.5'}";

    Group all = summary("stage", run).totals().get(0);

    assertThat(all.part(CostKind.API_TOKENS)).isEqualTo("1.20");
    assertThat(all.api()).isEqualTo(more);
    assertThat(all.total()).isEqualTo(new BigDecimal("9.00").add(new BigDecimal(more)));
    assertThat(charges.apiRows(Lines.run(run)))
        .extracting(row -> row.amount().toPlainString())
        .isEqualTo(more.equals("0.00") ? List.of() : List.of(more));
  }

  @Test
  void usageInAnotherCurrencyDoesNotChargeTheTokensOfARunAgain() {
    charges.add(usage("5", "EUR", 9_000_000));
    String counted =
        "'currency': 'USD', 'cost': '1.20', 'lines': {'api_tokens': '1.20'}, 'quantities':"
            + " {'api_tokens': '3.5'}";

    assertThat(charges.api(Lines.run(counted))).isEmpty();
    assertThat(charges.api(Lines.run("'currency': 'USD', 'cost': '1.20'")))
        .isEqualTo(Map.of("EUR", new BigDecimal("5.00")));
  }

  private static BillRow usage(String amount, String currency, long tokens) {
    return new BillRow(
        amount + currency,
        "train_20251101_120000",
        BillRow.API,
        "2025-11-01T00:00:00Z",
        "org/teacher-1 output",
        new BigDecimal(amount),
        currency,
        false,
        Optional.of(BigDecimal.valueOf(tokens)),
        Optional.empty());
  }

  @Test
  void billsOfNoRunAreToldApart() {
    charges.add(row("train_20200101_000000", "gcp", "1.25", "USD"));
    charges.add(row("", "gcp", "2", "USD"));

    assertThat(summary("stage", "'currency': 'USD', 'cost': '1.00'").unmatched())
        .isEqualTo(Map.of("USD", new BigDecimal("3.25")));
  }

  /**
   * Runs end at random minutes around months' ends and changes of the clock. Each is in the month
   * of its end in UTC, also by {@code ended}, and the months add up to the whole.
   */
  @Test
  void monthsAreThoseOfUtcAndAddUp() {
    Random random = new Random(9);
    List<Instant> edges =
        List.of(
            Instant.parse("2025-12-31T23:59:59Z"),
            Instant.parse("2026-01-01T00:00:00Z"),
            Instant.parse("2026-03-29T01:00:00Z"),
            Instant.parse("2026-03-31T22:00:00Z"),
            Instant.parse("2026-10-25T01:00:00Z"),
            Instant.parse("2026-10-31T23:30:00Z"));
    List<LedgerLine> runs = new ArrayList<>();
    Map<String, BigDecimal> sums = new TreeMap<>();
    for (int i = 0; i < 300; i++) {
      Instant end = edges.get(i % edges.size()).plusSeconds(random.nextInt(7200) * (i % 3 - 1L));
      String month = YearMonth.from(end.atOffset(ZoneOffset.UTC)).toString();
      BigDecimal cost = BigDecimal.valueOf(random.nextInt(10_000), 2);
      runs.add(
          Lines.run(
              "run_" + i,
              month,
              "'currency': 'USD', 'cost': '" + cost + "', 'ended': '" + end + "'"));
      sums.merge(month, cost, BigDecimal::add);
    }

    BigDecimal all = BigDecimal.ZERO;
    for (Map.Entry<String, BigDecimal> month : sums.entrySet()) {
      for (RunFilter filter :
          List.of(
              RunFilter.ofMonths(month.getKey(), Instant.now()),
              RunFilter.parse("ended=" + month.getKey(), Instant.now()))) {
        CostSummary summary = new CostSummary(GroupBy.parse("month"), filter, charges);
        runs.forEach(summary::add);
        assertThat(summary.totals().get(0).cost()).isEqualByComparingTo(month.getValue());
      }
      all = all.add(month.getValue());
    }
    CostSummary whole = new CostSummary(GroupBy.parse("month"), RunFilter.all(), charges);
    runs.forEach(whole::add);
    assertThat(whole.totals().get(0).cost()).isEqualByComparingTo(all);
  }

  /** On New Year in UTC, {@code last} is December, whatever the clock on the wall says. */
  @Test
  void lastMonthFollowsTheClockOfUtc() {
    LedgerLine november = Lines.run("run_1", "2025-11", "'cost': '1'");
    LedgerLine december = Lines.run("run_2", "2025-12", "'cost': '1'");
    RunFilter after = RunFilter.ofMonths("last", Instant.parse("2026-01-01T00:00:00Z"));
    RunFilter before = RunFilter.ofMonths("last", Instant.parse("2025-12-31T23:59:59Z"));

    assertThat(after.accepts(december)).isTrue();
    assertThat(after.accepts(november)).isFalse();
    assertThat(before.accepts(november)).isTrue();
    assertThat(before.accepts(december)).isFalse();
  }

  @Test
  void aNameThatMakesNoGroupsIsAnsweredWithTheNearest() {
    assertThatThrownBy(() -> GroupBy.parse("modle"))
        .hasMessage("--by: unknown name 'modle' (did you mean 'model'?)");
    assertThatThrownBy(() -> GroupBy.parse("cost")).hasMessageContaining("'cost'");
    assertThatThrownBy(() -> GroupBy.parse("stage,")).hasMessageContaining("a name is empty");
  }

  private CostSummary summary(String by, String... runs) {
    CostSummary summary = new CostSummary(GroupBy.parse(by), RunFilter.all(), charges);
    for (String run : runs) {
      summary.add(Lines.run(run));
    }
    return summary;
  }

  private void charge(String provider, String amount, String currency) {
    charges.add(row("train_20251101_120000", provider, amount, currency));
  }

  private static BillRow row(String run, String provider, String amount, String currency) {
    return new BillRow(
        amount + provider,
        run,
        provider,
        "2025-11-01T00:00:00Z",
        "x",
        new BigDecimal(amount),
        currency,
        false,
        Optional.empty(),
        Optional.empty());
  }
}
