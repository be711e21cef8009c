package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.Map;
import org.junit.jupiter.api.Test;

class UsageTest {

  @Test
  void isAddedUpExactlyAndByGpuType() {
    Usage sum =
        Usage.of(Map.of("h100", 2L), 8, 1L << 30, 10)
            .plus(Usage.of(Map.of("h100", 1L, "a100", 4L), 1, 0, 5))
            .plus(Usage.NONE);

    assertThat(sum.gpuSeconds()).containsExactly(Map.entry("a100", 20L), Map.entry("h100", 25L));
    assertThat(sum.cpuSeconds()).isEqualTo(85);
    assertThat(sum.memoryByteSeconds()).isEqualTo(BigInteger.valueOf(10L << 30));
  }

  @Test
  void threeThirdsOfAnHourAreOneHour() {
    Usage third = Usage.of(Map.of("h100", 1L), 1, 0, 1200);

    assertThat(third.plus(third).plus(third).gpuHours()).isEqualByComparingTo("1");
    assertThat(third.times(3).cpuHours()).isEqualByComparingTo("1");
  }
}
