package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class NamesOfFilesTest {
  @Test
  void refusesALocaleInWhichNamesCannotBeRead() {
    assertThatCode(() -> NamesOfFiles.requireUtf8("nexa-slurm sync push", "UTF-8"))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> NamesOfFiles.requireUtf8("nexa-slurm sync push", "ANSI_X3.4-1968"))
        .hasMessage(
            "the locale of this process is ANSI_X3.4-1968, in which names of files cannot be read");
  }
}
