package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The start script makes the archive of classes from these commands; it does not see an error. */
class ArchiveTrainingTest {
  @TempDir Path folder;

  @Test
  void eachCommandDoesWhatPeopleWaitFor() throws Exception {
    assertThat(OwnJvm.printed(folder, OwnJvm.words(ArchiveTraining.class)))
        .as("an error ends a command before it has loaded its classes")
        .doesNotContain("nexa-slurm: ")
        .contains("next in line, waiting for nodes to become free")
        .contains("(pipeline): pending, cost 0.00 USD")
        .contains("4 unfinished runs, 4 changed, 2 rows read")
        .contains("gpu:h100    0.0667  gpu_hour   5.50  0.37")
        .contains("The program ended with status 1 after it printed: an error");
  }
}
