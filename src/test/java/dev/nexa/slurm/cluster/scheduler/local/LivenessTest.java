package dev.nexa.slurm.cluster.scheduler.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LivenessTest {

  @Test
  void knowsThisProcess() {
    assertThat(Liveness.alive(Liveness.ourLine() + " 1 2")).contains(true);
    assertThat(Liveness.alive("somebody")).isEmpty();
  }

  @Test
  void takesAnotherProcessOfThatNumberForDead() {
    List<String> us = List.of(Liveness.ourLine().split(" ", -1));
    assertThat(Liveness.alive(with(us, 4, "1"))).contains(false);
    assertThat(Liveness.alive(with(us, 1, "other-boot"))).contains(false);
    assertThat(Liveness.alive(with(us, 0, "elsewhere"))).isEmpty();
    assertThat(Liveness.alive(with(us, 2, "pid:[1]"))).isEmpty();
  }

  private static String with(List<String> words, int at, String other) {
    List<String> changed = new ArrayList<>(words);
    changed.set(at, other);
    return String.join(" ", changed);
  }
}
