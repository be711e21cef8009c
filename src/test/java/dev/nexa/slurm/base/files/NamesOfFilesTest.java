package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamesOfFilesTest {
  @Test
  void refusesALocaleInWhichNamesCannotBeRead() {
    assertThatCode(() -> NamesOfFiles.requireUtf8("nexa-slurm sync push", "UTF-8"))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> NamesOfFiles.requireUtf8("nexa-slurm sync push", "ANSI_X3.4-1968"))
        .hasMessage(
            "the locale of this process is ANSI_X3.4-1968, in which names of files cannot be read");
  }

  @ParameterizedTest
  @CsvSource({"a,b", "a,a/b", "a.txt,a/b", "é,z", "\uFFEE,😀", "a😀,a\uE000", "'',a"})
  void ordersByTheBytesOfUtf8(String one, String other) {
    int expected =
        Arrays.compareUnsigned(
            one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));

    assertThat(Integer.signum(NamesOfFiles.ORDER.compare(one, other)))
        .isEqualTo(Integer.signum(expected));
    assertThat(Integer.signum(NamesOfFiles.ORDER.compare(other, one)))
        .isEqualTo(-Integer.signum(expected));
  }
}
