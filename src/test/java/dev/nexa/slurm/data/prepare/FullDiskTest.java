package dev.nexa.slurm.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.job.config.steps.DataStage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that is full while {@code data prepare} works: a tmpfs, so only root can run these. */
class FullDiskTest {
  private static final String SETTINGS =
      "{\"columns\": {\"text\": \"text\"}, \"text\": [\"text\"], \"max_row\": 100000}";
  private static final int ROWS = 200_000;

  @TempDir Path folder;
  private PrepareBench bench;
  private Path disk;

  @BeforeEach
  void begin() throws Exception {
    disk = Files.createDirectory(folder.resolve("disk"));
    assumeTrue(shell("mount -t tmpfs -o size=3m full " + disk), "only root can mount a tmpfs");
    bench = new PrepareBench(folder);
    StringBuilder lines = new StringBuilder();
    java.util.Random random = new java.util.Random(1);
    for (int i = 0; i < ROWS; i++) {
      lines.append("{\"text\":\"");
      for (int word = 0; word < 10; word++) {
        lines.append(Long.toString(random.nextLong(), 36)).append(' ');
      }
      lines.append("\"}\n");
    }
    bench.file("in/a.jsonl", lines.toString());
  }

  @AfterEach
  void end() throws Exception {
    shell("umount " + disk);
  }

  private static boolean shell(String command) throws IOException, InterruptedException {
    return new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start().waitFor() == 0;
  }

  private JsonObject prepare(long memoryMib, Path scratch, Path output) {
    try (Engine engine = Engine.open(new Limits(memoryMib << 20, 1, scratch))) {
      return new Prepare(
              engine,
              PrepareSettings.of(DataStage.withDefaults("prepare", Json.parseObject(SETTINGS))),
              Share.ALL,
              Progress.NONE)
          .run(List.of(folder.resolve("in").toString()), List.of(), List.of(), List.of(), output);
    }
  }

  @Test
  void aFullScratchIsNamedAndTheNextAttemptWorks() throws Exception {
    Path scratch = disk.resolve("scratch");

    assertThatThrownBy(() -> prepare(80, scratch, bench.out))
        .hasMessageContaining("the scratch is " + scratch)
        .satisfies(FullDiskTest::hasNoRoom);

    assertThat(bench.files("")).isEmpty();
    try (var left = Files.list(scratch)) {
      assertThat(left).isEmpty();
    }
    assertThat(prepare(80, folder.resolve("scratch"), bench.out).number("rows_out"))
        .isEqualTo(ROWS);
  }

  @Test
  void aFullOutputIsNamedAndTheNextAttemptWorks() throws Exception {
    Path output = disk.resolve("out");

    assertThatThrownBy(() -> prepare(512, folder.resolve("scratch"), output))
        .hasMessageContaining(output.toString())
        .hasMessageContaining("No space left on device")
        .satisfies(FullDiskTest::hasNoRoom);

    try (var left = Files.list(output)) {
      assertThat(left).as("no part of a file").isEmpty();
    }
    assertThat(shell("mount -o remount,size=100m " + disk)).isTrue();
    assertThat(prepare(512, folder.resolve("scratch"), output).number("rows_out")).isEqualTo(ROWS);
  }

  private static void hasNoRoom(Throwable failed) {
    ErrorCode code = ((NexaException) failed).code();
    assertThat(code).isEqualTo(ErrorCode.DATA_NO_ROOM);
    assertThat(code.exitCode()).isEqualTo(ExitCode.DEFECT);
  }
}
