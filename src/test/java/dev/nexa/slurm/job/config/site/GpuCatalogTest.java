package dev.nexa.slurm.job.config.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.GpuCatalog.Gpu;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GpuCatalogTest {
  private static final GpuCatalog SHIPPED =
      new ConfigReader(new ConfigSource(Path.of("")), Map.of()).gpus();

  @ParameterizedTest
  @ValueSource(strings = {"h100", "H100", "nvidia_h100", "NVIDIA-H100", "h100_80gb_hbm3"})
  void aTypeIsFoundByTheNamesThatClustersGiveIt(String type) {
    assertThat(SHIPPED.find(type)).map(Gpu::name).contains("h100");
  }

  @Test
  void peaksAreDenseOnes() {
    Gpu h100 = SHIPPED.find("h100").orElseThrow();

    assertThat(h100.flops("bf16")).contains(989.5e12);
    assertThat(h100.flops("fp16")).contains(989.5e12);
    assertThat(h100.flops("no")).isEmpty();
    assertThat(h100.memoryBytes()).contains(81_559L << 20);
  }

  @Test
  void aNameOfTwoSizesHasNoMemory() {
    assertThat(SHIPPED.find("a100").orElseThrow().memoryBytes()).isEmpty();
    assertThat(SHIPPED.find("a100_40gb").orElseThrow().memoryBytes()).contains(40L << 30);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a100_80gb_1g.10gb", "nvidia_a100_80gb_1g.10gb", "A100-80GB-1g.10gb"})
  void aPartHasItsShareOfTheWhole(String type) {
    Gpu part = SHIPPED.find(type).orElseThrow();

    assertThat(part.flops("bf16")).contains(312e12 / 7);
    assertThat(part.memoryBytes()).contains(10L << 30);
    assertThat(part.bandwidthBytes()).contains(2039e9 / 8);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tpu", "1g.10gb", "x100_1g.10gb", "a100_80gb_1g.gb", "a100_80gb_g.10gb"})
  void whatIsNotKnownIsUnknown(String type) {
    assertThat(SHIPPED.find(type)).isEqualTo(Optional.empty());
  }

  @Test
  void aWorkspacesOwnTableWinsAndIsReadStrictly() {
    ConfigReader own =
        new ConfigFolder()
            .with("configs/gpus.yaml", "as_of: 2026-11-01\ngpus: {toy: {bf16_tflop: 1}}\n")
            .reader();

    assertThatThrownBy(own::gpus)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("bf16_tflops")
        .hasMessageContaining("source");
  }

  /** A card shows less than its nominal size, and that is what a model must fit into. */
  @ParameterizedTest
  @CsvSource({
    "l4, 23034",
    "a10, 23028",
    "a10g, 23028",
    "NVIDIA-A10G, 23028",
    "t4, 15360",
    "l40s, 46068",
    "a40, 46068",
    "h200, 143771"
  })
  void theMemoryIsWhatNvidiaSmiShows(String type, long mebibytes) {
    assertThat(SHIPPED.find(type).orElseThrow().memoryBytes()).contains(mebibytes << 20);
  }
}
