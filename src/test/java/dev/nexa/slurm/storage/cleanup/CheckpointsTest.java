package dev.nexa.slurm.storage.cleanup;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CheckpointsTest {
  private static List<String> removed(List<String> names, Checkpoints.Best best) {
    return Checkpoints.choose(names, best).stream()
        .filter(choice -> choice.kept().isEmpty())
        .map(Checkpoints.Choice::name)
        .toList();
  }

  @Test
  void theBestAndTheLastStay() {
    assertThat(
            removed(
                List.of("checkpoint-500", "checkpoint-1000", "checkpoint-1500", "checkpoint-2000"),
                new Checkpoints.Best(Set.of("checkpoint-1000"), true)))
        .containsExactly("checkpoint-500", "checkpoint-1500");
  }

  @Test
  void numbersAreComparedAsNumbers() {
    assertThat(Checkpoints.last(List.of("step_90", "step_1000", "step_200")))
        .containsExactly("step_1000");
  }

  @Test
  void eachWayToCountKeepsItsLast() {
    assertThat(
            removed(
                List.of("epoch_0", "epoch_1", "step_5", "step_9"),
                new Checkpoints.Best(Set.of(), true)))
        .containsExactly("epoch_0", "step_5");
  }

  @Test
  void withoutWordOfTheBestAllStay() {
    assertThat(
            removed(
                List.of("checkpoint-1", "checkpoint-2", "checkpoint-3"),
                new Checkpoints.Best(Set.of(), false)))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "checkpoint-500, true",
    "step_10, true",
    "global_step500, true",
    "iter_0000500, true",
    "epoch=1-step=500.ckpt, true",
    "epoch_3.pt, true",
    "final, false",
    "final.pt, false",
    "best, false",
    "best-checkpoint-500, false",
    "checkpoint-final, false",
    "task_0, false",
    "config.yaml, false",
    "logs.json, false",
    "checkpoint-500.tmp, false",
    "epoch_3.json, false"
  })
  void onlyKnownNamesAreCheckpoints(String name, boolean is) {
    assertThat(Checkpoints.isCheckpoint(name)).isEqualTo(is);
  }
}
