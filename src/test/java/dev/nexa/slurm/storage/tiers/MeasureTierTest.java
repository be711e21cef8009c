package dev.nexa.slurm.storage.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.storage.tiers.MeasureTier.FoundFiles;
import dev.nexa.slurm.storage.tiers.MeasureTier.Usage;
import dev.nexa.slurm.storage.tiers.MeasureTier.Usage.UsageKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class MeasureTierTest {
  @Test
  void aFolderThatCannotBeReadIsNamed() {
    assertThat(
            MeasureTier.unread(
                "find: '/s/a': Permission denied\nfind: '/s/b': No such file or directory\n"))
        .containsExactly("'/s/a': Permission denied");
  }

  @Test
  void aFolderNamedLikeTheOptionIsAFolder() {
    assertThat(MeasureTier.lacksPrintf("find: '/t/no-printf': Permission denied\n")).isFalse();
    assertThat(MeasureTier.lacksPrintf("find: './-printf': Permission denied\n")).isFalse();
    assertThat(MeasureTier.lacksPrintf("find: unrecognized: -printf\n")).isTrue();
    assertThat(MeasureTier.lacksPrintf("find: -printf: unknown primary or operator\n")).isTrue();
    assertThat(MeasureTier.lacksPrintf("find: unknown predicate `-printf'\n")).isTrue();
  }

  /** The rows are bounded by the runs, not by the files. */
  @Test
  void aMillionFilesAreAddedUpByRun() throws IOException {
    Usage usage = new Usage(UsageKey.RUN);
    FoundFiles files = new FoundFiles(usage);
    for (int i = 0; i < 1_000_000; i++) {
      String run = "train_20251001_14" + (1000 + i % 2000);
      String line = "10 8 1700000000 ada checkpoints/" + run + "/task_0/shard-" + i + "\0";
      files.write(line.getBytes(StandardCharsets.UTF_8));
    }

    assertThat(usage.rows()).hasSize(2000);
    assertThat(usage.total().files()).isEqualTo(1_000_000);
    assertThat(usage.total().bytes()).isEqualTo(10_000_000);
    assertThat(usage.total().allocated()).isEqualTo(4096L * 1_000_000);
    assertThat(usage.total().oldest()).contains(Instant.ofEpochSecond(1_700_000_000));
  }

  @Test
  void anythingElseIsAnError() {
    FoundFiles files = new FoundFiles(new Usage(UsageKey.USER));

    assertThatThrownBy(() -> files.write("10 x 1 ada a\0".getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("find printed '10 x 1 ada a'");
  }

  @Test
  void theRunIsTheFolderNamedAfterIt() {
    assertThat(UsageKey.RUN.of("train_20251001_143200/task_0/x", "ada"))
        .isEqualTo("train_20251001_143200");
    assertThat(UsageKey.RUN.of("checkpoints/train_20251001_143200_2.2/x", "ada"))
        .isEqualTo("train_20251001_143200_2.2");
    assertThat(UsageKey.RUN.of("datasets/x_train_20251001_143200.txt", "ada")).isEqualTo("-");
    assertThat(UsageKey.FOLDER.of("datasets/x", "ada")).isEqualTo("datasets");
    assertThat(UsageKey.FOLDER.of("x", "ada")).isEqualTo("-");
  }
}
