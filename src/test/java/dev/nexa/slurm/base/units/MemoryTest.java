package dev.nexa.slurm.base.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryTest {

  @ParameterizedTest(name = "{0} is {1} bytes, {2} to Slurm, {3} to a person")
  @CsvSource(
      textBlock =
          """
          64G,    68719476736,   65536M,   64G
          64g,    68719476736,   65536M,   64G
          64GB,   68719476736,   65536M,   64G
          64GiB,  68719476736,   65536M,   64G
          64 G,   68719476736,   65536M,   64G
          512M,   536870912,     512M,     512M
          1024,   1073741824,    1024M,    1G
          1T,     1099511627776, 1048576M, 1T
          1500M,  1572864000,    1500M,    1500M
          2048K,  2097152,       2M,       2M
          1025K,  1049600,       2M,       1025K
          """)
  void suffixesAreSlurmsAndBinary(String text, long bytes, String slurm, String words) {
    assertThat(Memory.parse(text)).isEqualTo(bytes);
    assertThat(Memory.slurm(bytes)).isEqualTo(slurm);
    assertThat(Memory.words(bytes)).isEqualTo(words);
  }

  @ParameterizedTest
  @CsvSource({"1.5G, 1536M", "0.5T, 512G", ".25GiB, 256M", "0.0001G, 1M", "1.5, 1536M for 1.5 GiB"})
  void aFractionIsRefusedWithTheSizeToWrite(String text, String right) {
    assertThatThrownBy(() -> Memory.parseWithUnit(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "expected a memory size such as 64G or 512M, got '" + text + "': write " + right);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "G", "64X", "-1", "64  G", "6 4G", "64G ", "1e3", "٦٤G", "1P"})
  void anythingElseIsRefused(String text) {
    assertThatThrownBy(() -> Memory.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected " + Memory.FORMS + ", got '" + text + "'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "0G", "1K", "1023K"})
  void lessThanAMebibyteIsRefused(String text) {
    assertThatThrownBy(() -> Memory.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected at least 1M of memory, got '" + text + "'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"8388608T", "999999999999999T"})
  void moreThanFitsALongIsRefused(String text) {
    assertThatThrownBy(() -> Memory.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'" + text + "' is more memory than can be counted");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "0G", "000"})
  void zeroIsAllMemoryInSlurmAndASizeHere(String text) {
    assertThatThrownBy(() -> Memory.parseWithUnit(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sbatch's --mem=0 means all memory of the node")
        .hasMessageContaining("write resources.memory: all")
        .hasMessageNotContaining("0 GiB");
  }
}
