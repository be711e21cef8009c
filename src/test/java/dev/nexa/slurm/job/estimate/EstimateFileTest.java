package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import java.math.BigDecimal;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EstimateFileTest {
  private static final Rates RATES =
      new Rates(
          "book",
          "2026-11-01",
          "d1",
          "USD",
          Map.of("h100", new Price(new BigDecimal("5.50"), "list")),
          Map.of(PricedUnit.CPU, new Price(new BigDecimal("0.04"), "list")),
          BillingMode.PLAIN,
          Map.of());

  @Test
  void whatIsWrittenIsRead() {
    Plan plan =
        Plans.of(
            "stage: train\nbackend: shell\nrun: x\nresources: {gpus_per_node: 2, gpu_type: h100, time: 1h}\n",
            Plans.CLUSTER);
    Estimate estimate = Estimate.of(plan, RATES);

    EstimateFile kept =
        EstimateFile.parse(Json.pretty(EstimateFile.of(estimate, true).json()), "estimate.json");

    assertThat(kept.configDigest()).isEqualTo(plan.digest());
    assertThat(kept.isOfImported()).isFalse();
    assertThat(kept.reservation()).isEqualTo(estimate.total());
    assertThat(kept.rates()).isEqualTo(RATES);
    assertThat(kept.attempts()).contains((long) estimate.attempts());
    assertThat(kept.longestAttemptSeconds()).contains(estimate.longestAttemptSeconds());
    assertThat(kept.lines()).hasSameSizeAs(estimate.reservation());
    assertThat(kept.lines().get(0).amount()).isEqualTo(estimate.reservation().get(0).amount());
    assertThat(kept.quote()).isEmpty();
    assertThat(kept.expected()).isEmpty();
    assertThat(kept.expectedMethod()).isEmpty();
    assertThat(kept.expectedSummary()).isEmpty();
    assertThat(kept.data()).isEqualTo(DataSize.UNKNOWN);
    assertThat(kept.warnings()).isEmpty();
  }

  @Test
  void anEarlyEstimateHasNoVersionAndItsExpectedCostIsANumber() {
    EstimateFile early =
        EstimateFile.parse(
            "{\"currency\":\"USD\",\"expected\":12.5,\"reservation\":{\"total\":\"46.00\"}}",
            "estimate.json");

    assertThat(early.reservation()).isEqualTo(new Money(new BigDecimal("46.00"), "USD"));
    assertThat(early.expected()).contains(new BigDecimal("12.5"));
    assertThat(early.attempts()).isEmpty();
  }

  @Test
  void anImportedJobReservesNothing() {
    EstimateFile imported = EstimateFile.ofImported(RATES);

    assertThat(imported.isOfImported()).isTrue();
    assertThat(imported.reserved()).isZero();
    assertThat(imported.priceBook())
        .hasToString(
            new JsonObject()
                .with("name", "book")
                .with("as_of", "2026-11-01")
                .with("digest", "d1")
                .toString());
  }

  @Test
  void anEstimateOfANewerVersionIsRefusedWithTheReason() {
    assertThatThrownBy(() -> EstimateFile.parse("{\"schema_version\": 2}", "estimates/a.json"))
        .isInstanceOf(NexaException.class)
        .hasMessage("estimates/a.json has schema_version 2; this nexa-slurm reads up to 1");
  }
}
