package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.estimate.BillingMode;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.records.documents.RunCost;
import dev.nexa.slurm.run.results.TaskResults;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One attempt is reserved for 3690 s at 11.20 an hour: 11.48. */
class CostDifferenceTest {
  private static final String CONFIRMED = "created submitting submitted confirmed";

  @ParameterizedTest(name = "{0} tasks, {1} requeues: {3}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          1 | 0 | created submitting submitted confirmed | 0 COMPLETED 0-1845   | -5.74  | 0.00   | 0.00   | 0.00   | -5.74  | 0.00
          1 | 2 | created submitting submitted confirmed | 0 COMPLETED 0-3690   | -22.95 | 0.00   | 0.00   | -22.96 | 0.00   | 0.01
          1 | 1 | created submitting submitted confirmed | 0 REQUEUED 0-1845; 0 COMPLETED 2000-3845 | -11.48 | 0.00 | 0.00 | 0.00 | -11.48 | 0.00
          2 | 0 | created submitting submitted confirmed | 0 COMPLETED 0-3690; 1 CANCELLED -70 | -11.48 | 0.00 | -11.48 | 0.00 | 0.00 | 0.00
          2 | 1 | created submitting refused             |                      | -45.92 | -45.92 | 0.00   | 0.00   | 0.00   | 0.00
          1 | 0 | created submitting submitted confirmed | 0 TIMEOUT 0-3700     | 0.03   | 0.00   | 0.00   | 0.00   | 0.03   | 0.00
          3 | 0 | created submitting submitted confirmed | 0 COMPLETED 0-1; 1 COMPLETED 0-1; 2 COMPLETED 0-1 | -34.42 | 0.00 | 0.00 | 0.00 | -34.43 | 0.01
          """)
  void itSaysWhatWasNotNeeded(
      int tasks,
      int requeues,
      String journal,
      String rows,
      String difference,
      String notRun,
      String notStarted,
      String attempts,
      String time,
      String rounding) {
    JsonObject cost =
        cost(
            Facts.reserved(tasks, requeues, Facts.rates()),
            journal,
            Rows.accounting(rows == null ? "" : rows));

    assertThat(cost.text("difference")).isEqualTo(difference);
    JsonObject parts = cost.object("difference_parts");
    assertThat(parts.toString())
        .isEqualTo(
            new JsonObject()
                .with("tasks_not_run", notRun)
                .with("not_started", notStarted)
                .with("attempts_not_used", attempts)
                .with("time_not_used", time)
                .with("held_otherwise", "0.00")
                .with("rounding", rounding)
                .toString());
  }

  @Test
  void moreThanWasPlannedIsSaid() {
    List<AccountingRecord> rows = new ArrayList<>();
    for (AccountingRecord row : Rows.accounting("0 COMPLETED 0-3690")) {
      rows.add(Rows.holding(row, "cpu=96,mem=8G,gres/gpu:h100=8,gres/gpu=8,node=1"));
    }

    JsonObject cost = cost(Facts.reserved(1, 0, Facts.rates()), CONFIRMED, rows);

    assertThat(cost.object("difference_parts").text("held_otherwise"))
        .isEqualTo(cost.text("difference"))
        .isEqualTo("37.60");
  }

  @Test
  void billingUnitsAreSettledAsSlurmToldThemAndAtThePinnedPrice() {
    BillingMode.BillingRate rate =
        new BillingMode.BillingRate(
            new Price(new BigDecimal("0.5"), "list"), BillingWeights.parse("CPU=1,GRES/gpu=3"));
    Rates rates =
        new Rates(
            "book",
            "2025-11-01",
            "d",
            "USD",
            Map.of(),
            Map.of(),
            new BillingMode(Map.of(), Optional.empty(), Optional.of(rate), false),
            Map.of());

    // Ten units were reserved, Rows.TRES says billing=4.
    JsonObject cost =
        cost(Facts.reserved(1, 0, rates), CONFIRMED, Rows.accounting("0 COMPLETED 0-3690"));

    assertThat(cost.object("estimate").text("promised")).isEqualTo("5.12");
    assertThat(cost.decimal("total")).isEqualByComparingTo("2.05");
    JsonObject line = cost.object("actual").objects("lines").get(0);
    assertThat(line.text("unit")).isEqualTo("billing_hour");
    assertThat(line.text("quantity")).isEqualTo("4.1");
    assertThat(cost.object("difference_parts").text("held_otherwise")).isEqualTo("-3.08");
  }

  @Test
  void thePartsAlwaysAddUp() {
    SplittableRandom random = new SplittableRandom(6);
    for (int run = 0; run < 300; run++) {
      int tasks = 1 + random.nextInt(4);
      StringBuilder rows = new StringBuilder();
      for (int task = 0; task < tasks; task++) {
        int attempts = random.nextInt(4);
        for (int attempt = 0; attempt < attempts; attempt++) {
          int start = attempt * 10_000;
          rows.append(rows.length() == 0 ? "" : "; ").append(task);
          rows.append(attempt + 1 < attempts ? " REQUEUED " : " COMPLETED ").append(start);
          rows.append('-').append(start + random.nextInt(3700));
        }
      }
      JsonObject cost =
          cost(
              Facts.reserved(tasks, random.nextInt(3), Facts.rates()),
              CONFIRMED,
              Rows.accounting(rows.toString()));

      BigDecimal sum = BigDecimal.ZERO;
      JsonObject parts = cost.object("difference_parts");
      for (String name : parts.members().keySet()) {
        sum = sum.add(new BigDecimal(parts.text(name)));
      }
      assertThat(sum).as("%s", rows).isEqualByComparingTo(cost.text("difference"));
      assertThat(new BigDecimal(parts.text("rounding")).abs())
          .as("%s", rows)
          .isLessThanOrEqualTo(new BigDecimal("0.06"));
    }
  }

  @Test
  void thePartsOfAttemptsThatGrowAddUp() {
    for (String rows :
        List.of("0 COMPLETED 0-60", "0 OUT_OF_MEMORY 0-60; 0 COMPLETED 200-7000", "")) {
      JsonObject parts =
          cost(Facts.growing(), CONFIRMED, Rows.accounting(rows)).object("difference_parts");

      assertThat(new BigDecimal(parts.text("rounding")).abs())
          .as("%s: %s", rows, parts)
          .isLessThanOrEqualTo(new BigDecimal("0.06"));
      assertThat(new BigDecimal(parts.text("grown"))).isPositive();
    }
  }

  @Test
  void whereNothingWasReservedThereIsNothingToExplain() {
    JsonObject cost = cost(Facts.of(1, 0), CONFIRMED, Rows.accounting("0 COMPLETED 0-60"));

    assertThat(cost.members()).containsEntry("difference_parts", null);
  }

  private static JsonObject cost(RunFacts facts, String events, List<AccountingRecord> rows) {
    RunOutcomeOf made = new RunOutcomeOf(facts, events, rows);
    TaskResults none = new TaskResults(new JsonObject(), Map.of(), List.of());
    RunCost sum = CostRecord.cost(facts, made.journal(), made.outcome(), none);
    return CostRecord.of(
            facts, made.journal(), made.outcome(), sum, none, EnumSet.noneOf(JobState.class))
        .json();
  }

  private record RunOutcomeOf(RunFacts facts, String events, List<AccountingRecord> rows) {
    dev.nexa.slurm.records.runs.RunState journal() {
      return Facts.journal(facts.tasks(), events);
    }

    RunOutcome outcome() {
      return RunOutcome.of(
          facts, journal(), rows, List.of(), Map.of(), Rows.NOON.plusSeconds(100_000));
    }
  }
}
