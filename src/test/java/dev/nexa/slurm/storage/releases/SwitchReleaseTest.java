package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.releases.HistoryLine.Action;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SwitchReleaseTest {
  private static final int READS = SuiteSize.of("deploy.reads", 4000, 100_000);

  @TempDir Path folder;

  @Test
  void aFailedTestPutsTheEarlierReleaseBack() {
    DeploySite site = new DeploySite(folder);
    site.deploy("a");
    HistoryLine last =
        site.deploy("b", new SwitchRelease.Smoke("1 prompt", Optional.of("it said no")));

    assertThat(last.what().action()).isEqualTo(Action.ROLLED_BACK);
    assertThat(last.what().reason()).isEqualTo("it said no");
    assertThat(last.what().release()).contains("a");
    assertThat(last.what().from()).contains("b");
    assertThat(site.current().path().resolve("weights")).hasContent("weights of a");
  }

  @Test
  void aFailedFirstDeploymentLeavesNothingInProduction() {
    DeploySite site = new DeploySite(folder);
    site.deploy("a", new SwitchRelease.Smoke("1 prompt", Optional.of("it said no")));

    assertThat(site.current().path()).doesNotExist();
    assertThat(site.history().read().production()).isEmpty();
  }

  @Test
  void whatIsNotOurLinkIsNeverReplaced() throws Exception {
    DeploySite site = new DeploySite(folder);
    Path link = site.current().path();
    Files.createDirectory(link);
    assertForeign(site, "is a folder");
    Files.delete(link);
    Files.createSymbolicLink(link, Path.of("/models/other"));
    assertForeign(site, "is a link to /models/other");
    assertThat(Files.readSymbolicLink(link)).isEqualTo(Path.of("/models/other"));
    Files.delete(link);
    Files.writeString(link, "x");
    assertForeign(site, "is a file");
  }

  private static void assertForeign(DeploySite site, String what) {
    assertThatThrownBy(() -> site.deploy("a"))
        .isInstanceOfSatisfying(
            NexaException.class,
            failed -> assertThat(failed.code()).isEqualTo(ErrorCode.FILE_EXISTS))
        .hasMessageContaining(what);
  }

  @Test
  void twoWritersDoNotMix() {
    DeploySite site = new DeploySite(folder);
    try (SwitchRelease first = site.writer(step -> {})) {
      assertThat(first.production()).isEmpty();
      assertThatThrownBy(() -> site.deploy("a"))
          .isInstanceOfSatisfying(
              NexaException.class,
              failed -> assertThat(failed.code()).isEqualTo(ErrorCode.WORKSPACE_BUSY));
    }
  }

  /** dev/full releases reads 100,000 times. */
  @Test
  void everyReadDuringSwitchesFindsAModel() throws Exception {
    DeploySite site = new DeploySite(folder);
    CurrentModel current = site.current();
    current.lead(Optional.of("a"));
    AtomicBoolean ends = new AtomicBoolean();
    AtomicReference<Throwable> failed = new AtomicReference<>();
    Thread switches =
        new Thread(
            () -> {
              try {
                for (int n = 0; !ends.get(); n++) {
                  current.lead(Optional.of(n % 2 == 0 ? "b" : "a"));
                }
              } catch (RuntimeException broken) {
                failed.set(broken);
              }
            });
    switches.start();
    try {
      for (int n = 0; n < READS; n++) {
        String text = Files.readString(current.path().resolve("weights"));
        assertThat(text).isIn("weights of a", "weights of b");
      }
    } finally {
      ends.set(true);
      switches.join();
    }
    assertThat(failed.get()).isNull();
  }
}
