package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeartbeatTest {
  private static final Instant NOON = Instant.parse("2025-11-01T12:00:00Z");

  @TempDir Path root;

  @Test
  void whatIsWrittenIsRead() throws IOException {
    Workspace workspace = new Workspace(root, DurableFiles.onDisk());
    assertThat(Heartbeat.read(workspace)).isEmpty();
    Files.createDirectory(workspace.runs());
    Heartbeat behind = behind(Duration.ofMinutes(3));

    behind.write(workspace);

    assertThat(Heartbeat.read(workspace)).contains(behind);
    Files.writeString(Heartbeat.file(workspace), "{\"half");
    assertThat(Heartbeat.read(workspace)).isEmpty();
  }

  @Test
  void whereNoRunWasEverMadeNothingIsWritten() {
    behind(Duration.ofMinutes(3)).write(new Workspace(root, DurableFiles.onDisk()));

    assertThat(root).isEmptyDirectory();
  }

  @ParameterizedTest(name = "behind for {0}: again after {1}")
  @CsvSource({"PT0S, PT0S", "PT10S, PT5S", "PT10M, PT5M", "PT20M, PT10M", "P3D, PT10M"})
  void theLongerItIsBehindTheLessOftenItAsks(Duration behind, Duration pause) {
    Instant again = NOON.plus(pause);
    assertThat(behind(behind).askAgain(again)).isEmpty();
    if (!pause.isZero()) {
      assertThat(behind(behind).askAgain(again.minusSeconds(1))).contains(again);
      assertThat(behind(behind).askAgain(NOON.minusSeconds(1))).as("a wrong clock").isEmpty();
    }
  }

  private static Heartbeat behind(Duration time) {
    return new Heartbeat(
        NOON,
        Optional.of(NOON.minus(time)),
        Optional.of(NOON.minus(time)),
        Optional.of("sacct failed"),
        3,
        0,
        0,
        Duration.ofMillis(412));
  }
}
