package dev.nexa.slurm.cluster.sacct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.error.NexaException;
import java.io.IOException;
import java.nio.file.Files;
import java.time.ZoneId;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever stands in a dump, it is read or told; nothing falls over. */
class BrokenDumpTest {
  private static final byte[] NASTY =
      "|\n\r\0\u001f.:-+_[]%=,\"{}9Ez \u00e9"
          .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "22.05.8-all.txt",
        "written-gpus.txt",
        "written-odd-cells.txt",
        "written-attempts.txt",
        "written-26.05.json",
        "written-23.02.json",
        "22.05.8-long.txt"
      })
  void isReadOrTold(String name) throws IOException {
    byte[] whole = Files.readAllBytes(Dumps.FOLDER.resolve(name));
    Random random = new Random(name.hashCode());
    for (int round = 0; round < 300; round++) {
      byte[] broken = whole.clone();
      for (int i = random.nextInt(20); i >= 0; i--) {
        broken[random.nextInt(broken.length)] = NASTY[random.nextInt(NASTY.length)];
      }
      read(name, broken);
    }
  }

  private static void read(String name, byte[] broken) {
    try {
      Dumps.Read read =
          name.endsWith(".json")
              ? Dumps.json(broken)
              : Dumps.bytes(broken, null, List.of(), ZoneId.of("Europe/Berlin"));
      assertThat(read.lines().size() + read.problems().size()).isPositive();
      for (JobUsage job : read.jobs()) {
        assertThat(job.attempts()).isNotEmpty();
        assertThat(job.id()).isNotEmpty();
      }
    } catch (NexaException noHeader) {
      assertThat(noHeader).hasMessageContaining("JobID");
    }
  }
}
