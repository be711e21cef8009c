package dev.nexa.slurm.command.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SumOptionsTest {
  @ParameterizedTest(name = "{0} > {1}")
  @CsvSource({
    "ended,/work/=2025-11,ended>=2025-11",
    "cost,/work/100,cost>100",
    "cost,/work/costs.csv,",
    "cost,/other/100,",
    "cost>1,/work/100,"
  })
  void whatTheShellTookIsPutTogetherAgain(String text, Path file, String whole) {
    assertThat(SumOptions.swallowed(text, Optional.of(file), Path.of("/work")))
        .isEqualTo(Optional.ofNullable(whole));
  }
}
