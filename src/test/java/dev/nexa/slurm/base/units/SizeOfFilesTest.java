package dev.nexa.slurm.base.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SizeOfFilesTest {
  @Test
  void eachUnitIsReadAndABareNumberCountsBytes() {
    assertThat(Memory.parseBytes("100K")).isEqualTo(102_400);
    assertThat(Memory.parseBytes("50MB")).isEqualTo(50L << 20);
    assertThat(Memory.parseBytes("50MiB")).isEqualTo(50L << 20);
    assertThat(Memory.parseBytes("1000")).isEqualTo(1000);
    assertThatThrownBy(() -> Memory.parseBytes("fast"))
        .hasMessageContaining("expected a size such as 2G");
  }
}
