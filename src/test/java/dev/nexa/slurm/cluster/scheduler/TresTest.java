package dev.nexa.slurm.cluster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TresTest {

  @Test
  void theUntypedGpusAreTheTotalAndTheTypedOnesItsParts() {
    Tres tres = Tres.parse("billing=4,cpu=4,gres/gpu:h100=2,gres/gpu=2,mem=8G,node=1");

    assertThat(tres)
        .isEqualTo(
            new Tres(
                OptionalLong.of(4),
                OptionalLong.of(8L << 30),
                Optional.of(2L),
                Map.of("h100", 2L)));
    assertThat(tres.gpusBy("planned", 9)).containsExactly(Map.entry("h100", 2L));
  }

  @Test
  void gpusWithoutATypeAreOfTheTypeThatWasPlanned() {
    assertThat(Tres.parse("cpu=1,gres/gpu=4").gpusBy("h100", 9))
        .containsExactly(Map.entry("h100", 4L));
    assertThat(Tres.parse("cpu=1,gres/gpu:a100=1,gres/gpu=4").gpusBy("h100", 9))
        .containsExactly(Map.entry("a100", 1L), Map.entry("h100", 3L));
  }

  @Test
  void typedGpusAloneAreAllThereAre() {
    assertThat(Tres.parse("gres/gpu:a100=1,gres/gpu:h100=2").gpus()).contains(3L);
  }

  @Test
  void whereGpusAreNotTrackedThePlanTells() {
    Tres tres = Tres.parse("cpu=4,mem=8G,node=1");

    assertThat(tres.gpus()).isEmpty();
    assertThat(tres.gpusBy("h100", 2)).containsExactly(Map.entry("h100", 2L));
    assertThat(tres.gpusBy("h100", 0)).isEmpty();
    assertThat(Tres.parse("gres/gpu=0").gpusBy("h100", 2)).isEmpty();
  }

  @ParameterizedTest(name = "{0} is {1} bytes")
  @CsvSource({
    "8G, 8589934592",
    "9000M, 9437184000",
    "2.50G, 2684354560",
    "512K, 524288",
    "1T, 1099511627776",
    "1P, 1125899906842624",
    "1024, 1073741824",
    "0, 0",
    "'', 0",
    "8X, 0",
    "-8G, 0",
  })
  void memoryIsReadInSlurmsUnits(String text, long bytes) {
    assertThat(Tres.parse("mem=" + text).memoryBytes()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource({"''", "cpu", "cpu=", "cpu=x", "license/x=1", "'=,=,'", "cpu=99999999999999999999"})
  void whatIsUnknownIsNotZero(String text) {
    assertThat(Tres.parse(text))
        .isEqualTo(
            new Tres(OptionalLong.empty(), OptionalLong.empty(), Optional.empty(), Map.of()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gres/gpu=x",
        "gres/gpu=NONE",
        "gres/gpu=4294967294",
        "gres/gpu=x,gres/gpu:a100=2",
        "gres/gpu:a100=2,gres/gpu:h100=x"
      })
  void aCountThatIsNoNumberLeavesTheTotalUnknown(String text) {
    assertThat(Tres.parse(text).gpus()).isEmpty();
  }

  @Test
  void otherGenericResourcesAreNoGpus() {
    assertThat(Tres.parse("gres/gpumem=80G,gres/shard=4,gres/gpu_x=1").gpus()).isEmpty();
  }
}
