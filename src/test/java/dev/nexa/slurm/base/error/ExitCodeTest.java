package dev.nexa.slurm.base.error;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Scripts rely on these numbers: they are a contract, so they stand here once more. */
class ExitCodeTest {

  @ParameterizedTest
  @CsvSource({
    "OK, 0",
    "DEFECT, 1",
    "USAGE, 2",
    "NEEDS_APPROVAL, 3",
    "SCHEDULER, 4",
    "RUN_FAILED, 5",
    "INTERRUPTED, 130",
  })
  void theNumbersStay(ExitCode code, int status) {
    assertThat(code.status()).isEqualTo(status);
  }
}
