package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyOrderTest {
  @ParameterizedTest
  @CsvSource({"a,b", "a,a/b", "a.txt,a/b", "é,z", "\uFFEE,😀", "a😀,a\uE000", "'',a"})
  void ordersByTheBytesOfUtf8(String one, String other) {
    int expected =
        Arrays.compareUnsigned(
            one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));

    assertThat(Integer.signum(ObjectStore.ORDER.compare(one, other)))
        .isEqualTo(Integer.signum(expected));
    assertThat(Integer.signum(ObjectStore.ORDER.compare(other, one)))
        .isEqualTo(-Integer.signum(expected));
  }
}
