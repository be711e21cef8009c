package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.process.StandIn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** templates/node/diag_health.sh, with checks that wait for the test. */
class DiagHealthTest {
  @TempDir Path folder;

  @AfterEach
  void removeLock() throws IOException {
    Files.deleteIfExists(lock());
  }

  /** slurmd starts one each HealthCheckInterval: on a slow node they were 30 after a minute. */
  @Test
  void oneEndsAtOnceWhileAnotherLooks() throws Exception {
    assumeTrue(Files.isWritable(Path.of("/run")));
    StandIn.bash(folder.resolve("tools/scontrol"), "echo 'NodeName=x State=IDLE '");
    Files.copy(Path.of("templates/node/diag_health.sh"), folder.resolve("diag_health.sh"));
    Files.writeString(folder.resolve("diag.conf"), "enabled=yes\n");
    Files.writeString(
        folder.resolve("diag.sh"),
        """
        [[ $1 == node ]] || exit 0
        echo begins >>"${0%/*}/looks"
        while [[ ! -e ${0%/*}/go ]]; do sleep 0.1; done
        """);
    Process first = start();
    while (Files.notExists(folder.resolve("looks"))) {
      Thread.sleep(20);
    }

    assertThat(start().waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(folder.resolve("looks")).hasContent("begins\n");

    Files.createFile(folder.resolve("go"));
    assertThat(first.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(start().waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(folder.resolve("looks")).hasContent("begins\nbegins\n");
  }

  private Path lock() {
    return Path.of("/run/nexa-diag." + folder.getFileName() + ".lock");
  }

  private Process start() throws IOException {
    ProcessBuilder health = new ProcessBuilder("bash", folder + "/diag_health.sh");
    health
        .environment()
        .putAll(
            Map.of(
                "PATH",
                folder.resolve("tools") + ":/usr/bin:/bin",
                "SLURMD_NODENAME",
                folder.getFileName().toString()));
    return health.start();
  }
}
