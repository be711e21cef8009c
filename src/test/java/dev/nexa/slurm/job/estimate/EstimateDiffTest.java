package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.estimate.EstimateDiff.Change;
import dev.nexa.slurm.job.estimate.EstimateDiff.Side;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Plans;
import java.math.BigDecimal;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What changed between two estimates, and what that costs. */
class EstimateDiffTest {
  private static final String RUN = "stage: train\nbackend: shell\nrun: echo\n";
  private static final String ONE =
      RUN + "resources: {time: 1h, gpus_per_node: 1, gpu_type: h100}\n";
  private static final String TWO =
      RUN + "lr: 0.1\nresources: {time: 2h, nodes: 2, gpus_per_node: 1, gpu_type: h100}\n";

  @Test
  void tellsEachKeyThatDiffersAsTheConfigCallsIt() {
    EstimateDiff diff = new EstimateDiff(side(ONE, "3600"), side(TWO, "3600"));

    assertThat(diff.changes())
        .extracting(Change::key)
        .containsExactlyInAnyOrder(
            "lr",
            "resources.nodes",
            "resources.time",
            "billed.cpus",
            "billed.gpus",
            "billed.memory_bytes");
    assertThat(diff.changes()).contains(new Change("resources.time", "0-01:00:00", "0-02:00:00"));
    assertThat(new EstimateDiff(side(ONE, "3600"), side(ONE, "3600")).changes()).isEmpty();
  }

  @Test
  void pricesAreToldApartFromWhatIsAskedFor() {
    // 3690 s of one GPU at 1 a second, then 2 x 7290 s at 2 a second.
    EstimateDiff diff = new EstimateDiff(side(ONE, "3600"), side(TWO, "7200"));

    assertThat(diff.before().total()).hasToString("3690.00 USD");
    assertThat(diff.after().total()).hasToString("29160.00 USD");
    assertThat(diff.difference()).hasToString("25470.00 USD");
    assertThat(diff.percent()).contains(new BigDecimal("690.2"));
    assertThat(diff.ofPrices()).hasToString("3690.00 USD");
    assertThat(new EstimateDiff(side(ONE, "3600"), side(TWO, "3600")).ofPrices().amount())
        .isEqualByComparingTo("0");
  }

  @Test
  void aThresholdIsAnAmountOrAPartOfWhatWasBefore() {
    EstimateDiff diff = new EstimateDiff(side(ONE, "3600"), side(ONE, "7200"));

    assertThat(diff.isOver(new BigDecimal("3690"), false)).isFalse();
    assertThat(diff.isOver(new BigDecimal("3689.99"), false)).isTrue();
    assertThat(diff.isOver(new BigDecimal("100"), true)).isFalse();
    assertThat(diff.isOver(new BigDecimal("99.9"), true)).isTrue();
    EstimateDiff less = new EstimateDiff(side(ONE, "7200"), side(ONE, "3600"));
    assertThat(less.isOver(BigDecimal.ZERO, false)).isFalse();
    EstimateDiff fromNothing = new EstimateDiff(side(ONE, "0"), side(ONE, "3600"));
    assertThat(fromNothing.isOver(new BigDecimal("1000"), true)).isTrue();
    assertThat(fromNothing.percent()).isEmpty();
  }

  @Test
  void moneyOfTwoCurrenciesIsNotCompared() {
    Side other = side(ONE, "3600");
    other.estimate().json().with("currency", "EUR");

    assertThatThrownBy(() -> new EstimateDiff(side(ONE, "3600"), other))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("is in USD, ")
        .hasMessageContaining(" in EUR");
  }

  private static Side side(String config, String priceOfAnHour) {
    Plan plan = Plans.of(config, Plans.CLUSTER);
    Rates rates =
        new Rates(
            "book",
            "2025-11-01",
            "d1",
            "USD",
            Map.of("h100", new Price(new BigDecimal(priceOfAnHour), "list")),
            Map.of(),
            BillingMode.PLAIN,
            Map.of());
    return new Side(
        "run.yaml", PlanFile.of(plan), EstimateFile.of(Estimate.of(plan, rates), false));
  }
}
