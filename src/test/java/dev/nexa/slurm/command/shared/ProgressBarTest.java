package dev.nexa.slurm.command.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress.Running;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProgressBarTest {
  private static final String ERASE = "\r\u001b[K";

  private final List<String> written = new ArrayList<>();
  private long nanos = Long.MAX_VALUE;
  private int columns = 80;

  private ProgressBar terminal() {
    return new ProgressBar(() -> nanos, Optional.of(() -> columns), written::add);
  }

  private ProgressBar log() {
    return new ProgressBar(() -> nanos, Optional.empty(), written::add);
  }

  private void after(double seconds, ProgressBar bar) {
    nanos += (long) (seconds * 1e9);
    bar.tick();
  }

  private static String drawn(String line) {
    return "\r" + line + "\u001b[K";
  }

  @Test
  void aShortCommandPrintsNothing() {
    try (ProgressBar bar = terminal();
        Running running = bar.begin(Phase.of("auditing", "runs", 4))) {
      running.done(2, 0);
      after(0.5, bar);
      after(0.4, bar);
    }

    assertThat(written).isEmpty();
  }

  @Test
  void aTerminalGetsOneLineThatGoes() {
    try (ProgressBar bar = terminal()) {
      try (Running running = bar.begin(Phase.of("auditing", "runs", 4))) {
        after(1, bar);
        running.done(1, 0);
        after(1, bar);
      }
      assertThat(written)
          .containsExactly(
              drawn("auditing [                              ] 0%  0 of 4 runs, 0.0/s, 1s so far"),
              drawn(
                  "auditing [=======                       ] 25%  1 of 4 runs, 30.0/min, 6s left"),
              ERASE);
    }
    assertThat(written).hasSize(3);
  }

  @Test
  void theNextPhaseIsDrawnAtOnce() {
    try (ProgressBar bar = terminal()) {
      try (Running first = bar.begin(Phase.of("measuring", "files"))) {
        first.done(7, 0);
        after(2, bar);
      }
      try (Running second = bar.begin(Phase.of("forcing"))) {
        second.done(0, 0);
      }
    }

    assertThat(written)
        .containsExactly(
            drawn("measuring  7 files, 3.5/s, 2s so far"),
            ERASE,
            drawn("forcing  0s so far"),
            ERASE);
  }

  @Test
  void aPhaseThatEndsLateDoesNotEndTheNext() {
    ProgressBar bar = terminal();
    Running first = bar.begin(Phase.of("reading"));
    Running second = bar.begin(Phase.of("writing"));
    first.close();
    after(3, bar);
    second.close();

    assertThat(written).containsExactly(drawn("writing  3s so far"), ERASE);
  }

  @Test
  void whatIsPrintedAsideFindsAnEmptyLine() {
    try (ProgressBar bar = terminal();
        Running running = bar.begin(Phase.of("reading"))) {
      running.done(0, 0);
      bar.aside(() -> written.add("early\n"));
      after(1, bar);
      bar.aside(() -> written.add("a problem\n"));
      after(1, bar);
    }

    assertThat(written)
        .containsExactly(
            "early\n",
            drawn("reading  1s so far"),
            ERASE,
            "a problem\n",
            drawn("reading  2s so far"),
            ERASE);
  }

  @Test
  void theLineFollowsTheWidthOfTheTerminal() {
    try (ProgressBar bar = terminal();
        Running running = bar.begin(Phase.of("reading", "files", 100))) {
      columns = 16;
      after(1, bar);
      columns = 30;
      after(1, bar);
      running.done(0, 0);
      after(4, bar);
    }

    assertThat(written)
        .containsExactly(
            drawn("reading 0%  1s "),
            drawn("reading 0%  2s "),
            drawn("reading 0%  6s so far"),
            ERASE);
  }

  @Test
  void elsewhereThereIsOneLineAMinute() {
    try (ProgressBar bar = log();
        Running running = bar.begin(Phase.of("auditing", "runs", 1000))) {
      for (int second = 1; second <= 185; second++) {
        running.done(2, 0);
        after(1, bar);
      }
      bar.aside(() -> written.add("a problem"));
    }

    assertThat(written)
        .containsExactly(
            "auditing: 12%, 120 of 1,000 runs, 2.0/s, 7m20s left",
            "auditing: 24%, 240 of 1,000 runs, 2.0/s, 6m20s left",
            "auditing: 36%, 360 of 1,000 runs, 2.0/s, 5m20s left",
            "a problem");
  }

  @Test
  void elsewhereAMinuteIsOfTheWholeCommand() {
    try (ProgressBar bar = log()) {
      for (int phase = 0; phase < 4; phase++) {
        try (Running running = bar.begin(Phase.of("phase " + phase))) {
          running.done(0, 0);
          after(25, bar);
        }
      }
    }

    assertThat(written).containsExactly("phase 2: 25s so far");
  }

  @Test
  void bytesCountWhenTheyAreRead() throws IOException {
    try (ProgressBar bar = log();
        Running running = bar.begin(Phase.of("reading").withBytes(10))) {
      var in = running.counting(new ByteArrayInputStream(new byte[10]));
      assertThat(in.read()).isZero();
      assertThat(in.read(new byte[4])).isEqualTo(4);
      after(60, bar);
      assertThat(in.readAllBytes()).hasSize(5);
      assertThat(in.read()).isEqualTo(-1);
      after(60, bar);
    }

    assertThat(written)
        .containsExactly(
            "reading: 50%, 5 bytes of 10 bytes, 0 bytes/s, 1m00s left",
            "reading: 100%, 10 bytes of 10 bytes, 0 bytes/s, 2m00s so far");
  }

  @Test
  void manyThreadsMayReport() throws InterruptedException {
    try (ProgressBar bar = log();
        Running running = bar.begin(Phase.of("copying", "files", 8000))) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        Thread thread =
            new Thread(
                () -> {
                  for (int n = 0; n < 1000; n++) {
                    running.done(1, 0);
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      after(60, bar);
    }

    assertThat(written).hasSize(1).first().asString().startsWith("copying: 100%, 8,000 of 8,000");
  }
}
