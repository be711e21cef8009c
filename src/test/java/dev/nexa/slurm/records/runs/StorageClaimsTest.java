package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StorageClaimsTest {
  private static final String RUN = "train_20251101_143200";

  @TempDir Path folder;

  /** Takes a name in a process of its own, because a umask is a process's. */
  static final class Take {
    private Take() {}

    public static void main(String[] args) {
      Path folder = Path.of(args[0]);
      Storage tiers =
          new Storage(
              folder + "/scratch", folder + "/durable", folder + "/shared", Optional.empty());
      RunFolder run =
          new Workspace(folder.resolve("ws"), DurableFiles.onDisk()).run(new RunId(RUN));
      if (!new StorageClaims(tiers).take(run)) {
        throw new IllegalStateException("the name is taken");
      }
    }
  }

  @Test
  void everybodyCanReadAClaimWhateverTheUmaskIs() throws Exception {
    for (String tier : List.of("scratch", "durable", "shared")) {
      Files.createDirectories(folder.resolve(tier));
    }
    Process process =
        new ProcessBuilder(
                "sh",
                "-c",
                "umask 077 && exec \"$0\" -cp \"$1\" '" + Take.class.getName() + "' \"$2\"",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                System.getProperty("java.class.path"),
                folder.toString())
            .inheritIO()
            .start();

    assertThat(process.waitFor()).isZero();
    for (String claim : List.of("scratch/.nexa-scratch/", "durable/.nexa-runs/")) {
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(folder.resolve(claim + RUN))))
          .isEqualTo("rw-r--r--");
    }
  }
}
