package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.BillingMode;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Estimates as a person reads them: src/test/resources/golden/report. */
class EstimateTextTest {
  private static final Rates RATES =
      new Rates(
          "default",
          "2025-11-01",
          "d1",
          "USD",
          Map.of("h100", price("5.50")),
          Map.of(PricedUnit.CPU, price("0.04"), PricedUnit.MEMORY, price("0.005")),
          BillingMode.PLAIN,
          Map.of());

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "one-task, '', 'time: 45', false",
    "an-array, 'array: {shards: 64}', 'time: 1-12', true",
    "with-requeues, 'requeues: 2', 'time: 30:00, gpus_per_node: 2, gpu_type: h100', true",
    "on-two-nodes, '', 'time: 90m, nodes: 2, gpus_per_node: 4, gpu_type: h100', true",
  })
  void saysWhatItCostsAndHowThatCameAbout(
      String name, String config, String resources, boolean approvalNeeded) {
    Plan plan =
        Plans.of(
            "stage: data\nbackend: shell\nrun: echo\n"
                + config
                + "\nresources: {"
                + resources
                + "}\n",
            Plans.CLUSTER);
    Money threshold = new Money(new BigDecimal("100.00"), "USD");

    Golden.check(
        "report/estimate-" + name + ".txt",
        EstimateText.of(
            plan, Estimate.of(plan, RATES), Optional.empty(), threshold, approvalNeeded));
  }

  @Test
  void whoWantsNodesForThemselvesIsToldWhatIsPaid() {
    Plan plan =
        Plans.of(
            "stage: data\nbackend: shell\nrun: echo\n"
                + "resources: {time: 1h, gpus_per_node: 1, gpu_type: h100, exclusive: true}\n",
            Plans.CLUSTER
                + "default_partition: gpu\n"
                + "partitions: {gpu: {gpus_per_node: 8, gpu_type: h100, cpus_per_node: 64,"
                + " memory_per_node: 1T}}\n");

    assertThat(
            EstimateText.of(
                plan,
                Estimate.of(plan, RATES),
                Optional.empty(),
                new Money(BigDecimal.ZERO, "USD"),
                true))
        .contains(
            ": 1 task, 1 node with 1 h100, 1 CPU and 4 GiB, 1 hour, partition gpu (+90 s that Slurm"
                + " may take to end it); the job gets the whole node and pays for it: 8 h100 and 64"
                + " CPUs.");
  }

  private static Price price(String amount) {
    return new Price(new BigDecimal(amount), "list of 2025");
  }
}
