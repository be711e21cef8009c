package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SyncPlanTest {
  @TempDir Path folder;

  @Test
  void countsWhatAPushTakes() throws IOException {
    Files.write(Files.createDirectories(folder.resolve("a/b")).resolve("c"), new byte[7]);
    Files.write(folder.resolve("d"), new byte[5]);
    Files.write(folder.resolve("e.tmp"), new byte[3]);
    Files.write(Files.createDirectory(folder.resolve(".nexa-sync")).resolve("f"), new byte[9]);
    Files.createSymbolicLink(folder.resolve("link"), folder.resolve("d"));

    assertThat(SyncPlan.ofSource(folder, SyncTrial.usual(), 2))
        .isEqualTo(new SyncPlan.Count(2, 12));
    assertThat(SyncPlan.ofSource(folder.resolve("e.tmp"), SyncTrial.usual(), 2))
        .isEqualTo(new SyncPlan.Count(1, 3));
  }

  @Test
  void whatIsNotCountedHasAReason() throws IOException {
    Files.write(folder.resolve("a"), new byte[7]);
    Files.write(folder.resolve("b"), new byte[7]);

    assertThatThrownBy(() -> SyncPlan.ofSource(folder, SyncTrial.usual(), 1))
        .hasMessage("it has more than 1 files, which are not counted");
    assertThatThrownBy(() -> SyncPlan.ofSource(folder.resolve("c"), SyncTrial.usual(), 1))
        .hasMessage("it does not exist on this host");
  }
}
