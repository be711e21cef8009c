package dev.nexa.slurm.run.lookup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.jobs.MergeLogs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TaskLogTest {
  @TempDir Path folder;

  private Path file;
  private TaskLog log;

  @BeforeEach
  void begin() throws IOException {
    file = Files.createFile(folder.resolve("1_0.out"));
    log = new TaskLog(file, 0, "[0] ");
  }

  @Test
  void aLineIsCopiedOnceItIsWhole() throws IOException {
    append("one\ntw");
    assertThat(copy(false)).isEqualTo("[0] one\n");
    assertThat(copy(false)).isEmpty();
    append("o\n\nthree");
    assertThat(copy(false)).isEqualTo("[0] two\n[0] \n");
    assertThat(copy(true)).isEqualTo("[0] three\n");
    assertThat(copy(true)).isEmpty();
  }

  /** Slurm opens it to append. */
  @Test
  void aRequeuedTaskGoesOnInTheSameFile() throws IOException {
    append("attempt 0\n");
    copy(false);
    append("attempt 1\n");

    assertThat(copy(false)).isEqualTo("[0] attempt 1\n");
  }

  @Test
  void aTaskThatWasSubmittedAgainBeginsANewFile() throws IOException {
    append("lost\n");
    copy(false);
    log.movedTo(Files.writeString(folder.resolve("2_0.out"), "again\n"));

    assertThat(copy(false)).isEqualTo("[0] again\n");
  }

  /** On a terminal it would write over the prefix. */
  @Test
  void aProgressBarHasThePrefixAgain() throws IOException {
    append("\r 50%\r100%\r\nend\r\n");

    assertThat(copy(false)).isEqualTo("[0] \r[0]  50%\r[0] 100%\r\n[0] end\r\n");
  }

  @Test
  void aLineOfEndlessLengthComesInPiecesOfWholeCharacters() throws IOException {
    String text = "x" + "ü".repeat(TaskLog.LONGEST_LINE);
    append(text + "\n");

    String copied = copy(false);

    assertThat(copied.replace("\n", "").replace("[0] ", "")).isEqualTo(text);
    assertThat(copied.lines().count()).isEqualTo(3);
  }

  @Test
  void oneLookCopiesNoMoreThanItsShare() throws IOException {
    String line = "x".repeat(1023) + "\n";
    append(line.repeat(1024));

    ByteArrayOutputStream out = new ByteArrayOutputStream();
    log.copy(out, 100_000, false);

    assertThat(out.toString(StandardCharsets.UTF_8).lines().count()).isBetween(97L, 200L);
    assertThat(copy(false).lines().count() + out.toString(StandardCharsets.UTF_8).lines().count())
        .isEqualTo(1024);
  }

  @ParameterizedTest
  @CsvSource({"0, 6", "1, 4", "2, 2", "3, 0", "4, 0"})
  void theLastLinesBegin(int lines, long start) throws IOException {
    append("a\nb\nc\n");
    assertThat(TaskLog.startOfLast(file, lines)).isEqualTo(start);
  }

  @Test
  void anUnfinishedLineIsALine() throws IOException {
    append("a\nb\nc");
    assertThat(TaskLog.startOfLast(file, 2)).isEqualTo(2);
  }

  @Test
  void theLastLinesOfALargeFileAreFoundFromItsEnd() throws IOException {
    append("x".repeat(200_000) + "\n" + "y".repeat(70_000) + "\nz\n");
    assertThat(TaskLog.startOfLast(file, 2)).isEqualTo(200_001);
    assertThat(TaskLog.startOfLast(file, 3)).isZero();
  }

  @ParameterizedTest
  @CsvSource({"1, 500", "100, 500", "400, 2000", "1000, 5000"})
  void theMoreTasksThereAreTheLessOftenEachIsLookedAt(int tasks, long millis) {
    assertThat(MergeLogs.pauseMillis(tasks)).isEqualTo(millis);
  }

  private void append(String text) throws IOException {
    Files.writeString(file, text, StandardOpenOption.APPEND);
  }

  private String copy(boolean unfinished) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    log.copy(out, Long.MAX_VALUE, unfinished);
    return out.toString(StandardCharsets.UTF_8);
  }
}
