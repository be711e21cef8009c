package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.units.IndexRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogTextTest {

  @ParameterizedTest
  @CsvSource({"0, 2, '[0] '", "1, 10, '[1] '", "1, 11, '[1]  '", "10, 11, '[10] '"})
  void aPrefixIsAsWideAsThatOfTheLastTask(int task, int tasks, String prefix) {
    assertThat(LogText.prefix(task, tasks, false)).isEqualTo(prefix);
  }

  @Test
  void onATerminalNeighboursHaveColoursOfTheirOwn() {
    assertThat(LogText.prefix(0, 2, true)).isEqualTo("\u001b[36m[0]\u001b[0m ");
    assertThat(LogText.prefix(1, 2, true)).isEqualTo("\u001b[33m[1]\u001b[0m ");
    assertThat(LogText.prefix(5, 6, true)).startsWith("\u001b[36m[5]");
  }

  @ParameterizedTest
  @CsvSource({
    "FAILED, 2:0, 'FAILED, exit code 2'",
    "OUT_OF_MEMORY, 0:125, 'OUT_OF_MEMORY, exit code 0, signal 125'",
    "CANCELLED by 1000, '', CANCELLED by 1000",
  })
  void aHeaderSaysHowTheTaskEnded(String state, String exitCode, String told) {
    assertThat(LogText.failed(7, state, exitCode, "/runs/r/logs/12_7.out"))
        .isEqualTo("==> task 7: " + told + ", /runs/r/logs/12_7.out <==");
  }

  @Test
  void tasksWithoutALogShareALine() {
    assertThat(LogText.silent(IndexRange.parse("3"), "CANCELLED"))
        .isEqualTo("==> task 3: CANCELLED, printed nothing <==");
    assertThat(LogText.silent(IndexRange.parse("3,5-90"), "CANCELLED"))
        .isEqualTo("==> tasks 3,5-90: CANCELLED, printed nothing <==");
  }
}
