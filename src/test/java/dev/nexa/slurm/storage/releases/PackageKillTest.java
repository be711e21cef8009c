package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.storage.releases.PackageRelease.PackageStep;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SIGKILL at each step: a release is there whole, or not at all, and the next call makes it. {@code
 * dev/full storage} kills more often.
 */
class PackageKillTest {
  private static final int KILLS = SuiteSize.of("release.kills", 6, 200);
  private static final int KILLED = 137;

  @TempDir Path folder;

  @Test
  void noHalfReleaseIsSeen() throws Exception {
    PackageStep[] steps = PackageStep.values();
    for (int n = 0; n < KILLS; n++) {
      PackageStep step = steps[n % steps.length];
      Path durable = Files.createDirectory(folder.resolve("" + n));
      Path model = Models.llama(durable.resolve("checkpoints/final"));
      kill(durable, model, step);

      List<ReleaseFolder> after = ReleaseFolder.all(durable.toString());
      assertThat(after).as("%s", step).hasSize(step == PackageStep.RENAMED ? 1 : 0);
      for (ReleaseFolder release : after) {
        assertThat(release.problems()).isEmpty();
      }
      PackageRelease.Done done =
          new PackageRelease(durable.toString(), DurableFiles.onDisk())
              .run(Models.draft("demo", model), Progress.NONE);
      assertThat(done.added()).isEqualTo(step != PackageStep.RENAMED);
      assertThat(done.folder().problems()).isEmpty();
      try (Stream<Path> left = Files.list(ReleaseFolder.parent(durable.toString()))) {
        assertThat(left.map(path -> path.getFileName().toString())).containsExactly("demo");
      }
    }
  }

  private void kill(Path durable, Path model, PackageStep step) throws Exception {
    Path said = folder.resolve("said");
    Process process =
        new ProcessBuilder(
                OwnJvm.words(
                    CrashingPackage.class, durable.toString(), model.toString(), step.name()))
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).as(Files.readString(said)).isEqualTo(KILLED);
    } finally {
      process.destroyForcibly();
    }
  }
}
