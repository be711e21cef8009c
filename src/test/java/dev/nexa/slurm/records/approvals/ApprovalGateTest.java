package dev.nexa.slurm.records.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.BillingMode;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.Plans;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApprovalGateTest {

  /** One CPU for 3690 s at 40 an hour: 41.00. */
  private static final Estimate FORTY_ONE_DOLLARS =
      Estimate.of(
          Plans.of(
              "stage: data\nbackend: shell\nrun: echo\nresources: {time: 60m}\n", Plans.CLUSTER),
          new Rates(
              "book",
              "2026-11-01",
              "d1",
              "USD",
              Map.of(),
              Map.of(PricedUnit.CPU, new Price(new BigDecimal("40"), "list")),
              BillingMode.PLAIN,
              Map.of()));

  @ParameterizedTest(name = "over {0}: {1}")
  @CsvSource({"40.99, true", "41.00, false", "41, false", "100, false", "0, true"})
  void aRunMayCostAsMuchAsThePolicySaysAndNoCentMore(BigDecimal threshold, boolean needed) {
    assertThat(ApprovalGate.needsApproval(FORTY_ONE_DOLLARS, policy(threshold, "USD")))
        .isEqualTo(needed);
  }

  @Test
  void amountsInDifferentCurrenciesAreNotCompared() {
    assertThatThrownBy(
            () -> ApprovalGate.needsApproval(FORTY_ONE_DOLLARS, policy(BigDecimal.TEN, "EUR")))
        .hasMessage(
            "the policy's threshold is in EUR (policy.yaml) but the price book 'book' is in USD");
  }

  private static Policy policy(BigDecimal threshold, String currency) {
    return new Policy(
        "policy.yaml",
        new Money(threshold, currency),
        new Policy.Repeats(3, 3, Optional.empty()),
        List.of(),
        new Policy.Datasets(false, false, false),
        new Policy.Evaluation(List.of(), false),
        new Policy.Releases(false, false),
        List.of(),
        Optional.empty(),
        Optional.empty(),
        List.of(),
        List.of());
  }
}
