package dev.nexa.slurm.cluster.scheduler.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What sbatch --test-only says: src/test/resources/sbatch-test-only, and what newer ones write. */
class TestOnlyTextTest {
  @Test
  void readsWhenAJobWouldBegin() {
    assertThat(captured("22.05.8-now.txt").at()).contains(Instant.ofEpochSecond(1795308540));
    assertThat(captured("22.05.8-later.txt").at()).contains(Instant.ofEpochSecond(1795315740));
  }

  @Test
  void readsWhyItWouldNot() {
    assertThat(captured("22.05.8-refused.txt"))
        .isEqualTo(ExpectedStart.never("Requested node configuration is not available"));
    assertThat(captured("22.05.8-no-partition.txt"))
        .isEqualTo(ExpectedStart.never("Invalid partition name specified"));
  }

  /** Of 25.05's source, sbatch.c: "a using"; and what a controller that is away looks like. */
  @Test
  void readsWhatOthersWrite() {
    assertThat(
            TestOnlyText.read(
                "sbatch: Job 7 to start at 2024-05-01T12:00:00 a using 4 processors on nodes"
                    + " n[1-2] in partition gpu on cluster east\n  Preempts: 1,2\n"))
        .isEqualTo(ExpectedStart.at(Instant.parse("2024-05-01T12:00:00Z"), 4));
    assertThat(TestOnlyText.read("sbatch: error: Unable to contact slurm controller\n"))
        .isEqualTo(ExpectedStart.unknown("Unable to contact slurm controller"));
    assertThat(TestOnlyText.read("allocation failure: Zero Bytes were transmitted or received\n"))
        .isEqualTo(ExpectedStart.unknown("Zero Bytes were transmitted or received"));
    assertThat(TestOnlyText.read("sbatch: Job 7 to start at Unknown using 4\n").at()).isEmpty();
    assertThat(TestOnlyText.read("")).isEqualTo(ExpectedStart.UNKNOWN);
  }

  @Test
  void theOptionsAreTheScripts() {
    assertThat(SlurmCommands.testOnly(List.of("--partition=gpu", "--no-requeue")))
        .containsExactly("sbatch", "--test-only", "--partition=gpu", "--no-requeue", "--wrap=true");
  }

  private static ExpectedStart captured(String name) {
    return TestOnlyText.read(
        DurableFiles.read(Path.of("src/test/resources/sbatch-test-only").resolve(name)));
  }
}
