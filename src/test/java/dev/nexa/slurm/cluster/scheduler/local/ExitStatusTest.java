package dev.nexa.slurm.cluster.scheduler.local;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExitStatusTest {

  /** As Slurm 22.05's sacct printed them; the wait status has exit << 8, or the signal. */
  @ParameterizedTest
  @CsvSource({
    "0, COMPLETED, 0:0",
    "0x0100, FAILED, 1:0",
    "0x7f00, FAILED, 127:0",
    "0x8000, FAILED, 0:0",
    "0x8900, FAILED, 9:0",
    "0xff00, FAILED, 127:0",
    "9, FAILED, 0:9",
    "15, FAILED, 0:15",
    "0x8b, FAILED, 0:11",
    "1, FAILED, 1:0",
  })
  void isPrintedAsSacctDoes(String waitStatus, String state, String text) {
    TaskProcess.ExitStatus status = new TaskProcess.ExitStatus(Integer.decode(waitStatus));
    assertThat(status.state()).isEqualTo(state);
    assertThat(status.text()).isEqualTo(text);
  }
}
