package dev.nexa.slurm.base.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestTest {
  private static final List<String> KEYS =
      List.of("nodes", "gpus_per_node", "gpu_type", "memory", "time", "partition", "qos");

  @ParameterizedTest(name = "{0} was meant as {1}")
  @CsvSource({
    "nodse, nodes", // two letters swapped
    "node, nodes", // one missing
    "nnodes, nodes", // one too many
    "Nodes, nodes", // another case
    "momery, memory",
    "gpu_per_node, gpus_per_node",
    "gputype, gpu_type",
    "partitoin, partition",
  })
  void aSlipOfTheFingersIsRecognised(String typed, String meant) {
    assertThat(Nearest.hint(typed, KEYS)).isEqualTo(" (did you mean '" + meant + "'?)");
  }

  @ParameterizedTest
  @CsvSource({"walltime", "x", "cpus", "''"})
  void aWordFarFromAllSuggestsNothing(String typed) {
    assertThat(Nearest.to(typed, KEYS)).isEmpty();
    assertThat(Nearest.hint(typed, KEYS)).isEmpty();
  }

  @Test
  void amongNoNamesNoneIsNear() {
    assertThat(Nearest.to("nodes", List.of())).isEmpty();
  }
}
