package dev.nexa.slurm.job.config.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PricedUnit;
import org.junit.jupiter.api.Test;

class SkyPilotPricesTest {
  private static final String SKY =
      """
      jobs: {controller: {resources: {cpus: 4+}}}
      slurm:
        allowed_clusters: [one, two]
        pricing:
          cpu: 0.04
          memory: 0.01
          accelerators: {V100: 2.50, A100: 3.50}
        cluster_configs:
          one:
            pricing: {cpu: 0.06, accelerators: {A100: 4.00}}
          two:
            provision_timeout: 60
            partition_configs:
              gpu-partition: {pricing: {accelerators: {H100: 5.00}}}
      """;

  @Test
  void itIsAPriceBookWithoutAWordChanged() {
    PriceBook book = read(SKY + "as_of: 2026-02-03\n");

    assertThat(book.currency()).isEqualTo("USD");
    assertThat(book.asOf()).hasToString("2026-02-03");
    assertThat(book.gpuHourCoversJob()).isTrue();
    assertThat(book.entries())
        .extracting(
            entry ->
                entry.cluster().orElse("*")
                    + " "
                    + entry.partition().orElse("*")
                    + " "
                    + entry.prices().gpuHour().keySet()
                    + " "
                    + entry
                        .prices()
                        .of(PricedUnit.CPU)
                        .map(price -> price.price().toString())
                        .orElse("-"))
        .containsExactly(
            "* * [V100, A100] 0.04",
            "one * [A100] 0.06",
            "two * [] -",
            "two gpu-partition [H100] -");
    assertThat(book.entries().get(3).prices().gpuHour().get("H100").source())
        .isEqualTo(
            "SkyPilot slurm.cluster_configs.two.partition_configs.gpu-partition.pricing.accelerators.H100");
  }

  @Test
  void aWrongRateIsToldWithItsPlace() {
    assertThatThrownBy(() -> read("slurm: {pricing: {cpus: 0.04}}\n"))
        .hasMessageEndingWith(
            "mine.yaml:1:19: slurm.pricing.cpus: unknown key (did you mean 'cpu'?)");
    assertThatThrownBy(() -> read("slurm: {pricing: {accelerators: {H100: free}}}\n"))
        .hasMessageContaining("slurm.pricing.accelerators.H100: expected an amount of money");
  }

  private static PriceBook read(String text) {
    return new ConfigFolder().with("configs/prices/mine.yaml", text).reader().prices("mine");
  }
}
