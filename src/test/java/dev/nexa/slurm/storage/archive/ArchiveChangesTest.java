package dev.nexa.slurm.storage.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What changes between the bundle and the trash keeps the run's files in their place. */
class ArchiveChangesTest {
  @TempDir Path folder;
  private ArchiveSite site;
  private RunFolder run;
  private Path checkpoints;

  @BeforeEach
  void begin() {
    site = new ArchiveSite(folder);
    run = site.run("train_20251001_143200");
    checkpoints = site.checkpoints(run);
  }

  /** Archives the run, and makes the change once the bundle is whole. */
  private String refusal(Runnable change) {
    List<ArchiveRuns.Archived> done =
        site.archive(
            List.of(run),
            step -> {
              if (step == ArchiveStep.JOURNALED) {
                change.run();
              }
            },
            step -> {});
    assertThat(done).hasSize(1);
    assertThat(done.get(0).archive()).isPresent();
    assertThat(done.get(0).cleanup()).isEmpty();
    return String.valueOf(done.get(0).failed().orElseThrow().getMessage());
  }

  @Test
  void aReleaseThatAppearsKeepsTheFiles() {
    Map<String, String> before = ArchiveSite.tree(checkpoints);
    Path release = site.site.durable.resolve("deploy/releases/demo/release.json");

    assertThat(refusal(() -> CleanupSite.write(release, "{\"run_id\": \"" + run.id() + "\"}")))
        .isEqualTo(checkpoints + " stays: the release demo refers to it");
    assertThat(ArchiveSite.tree(checkpoints)).isEqualTo(before);
  }

  @Test
  void aFileThatChangesInPlaceKeepsAllFiles() {
    Path file = checkpoints.resolve("checkpoint-1/model.bin");

    assertThat(refusal(() -> CleanupSite.write(file, "zz"))).contains(run.id().value());
    assertThat(file).hasContent("zz");
    assertThat(site.site.durable.resolve("evals").resolve(run.id().value())).exists();
  }

  @Test
  void aBundleThatCannotBeReadBackKeepsAllFiles() {
    Map<String, String> before = ArchiveSite.tree(checkpoints);

    List<ArchiveRuns.Archived> done =
        site.archive(
            List.of(run),
            step -> {
              if (step == ArchiveStep.WRITTEN) {
                damage(onlyFile(site.cold));
              }
            },
            step -> {});

    assertThat(done.get(0).failed()).isPresent();
    assertThat(done.get(0).archive()).isEmpty();
    assertThat(site.cold).isEmptyDirectory();
    assertThat(ArchiveSite.tree(checkpoints)).isEqualTo(before);
  }

  private static Path onlyFile(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.findFirst().orElseThrow();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** The disk keeps another byte than the one that was written. */
  private static void damage(Path file) {
    try {
      byte[] bytes = Files.readAllBytes(file);
      bytes[bytes.length / 2] ^= 1;
      Files.write(file, bytes);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Test
  void aReasonThatKeepsTheFilesIsNoReasonToTypeTheCommandAtOnce() {
    Path release = site.site.durable.resolve("deploy/releases/demo/release.json");
    List<ArchiveRuns.Archived> done =
        site.archive(
            List.of(run),
            step -> {
              if (step == ArchiveStep.JOURNALED) {
                CleanupSite.write(release, "{\"run_id\": \"" + run.id() + "\"}");
              }
            },
            step -> {});

    assertThat(done.get(0).failed().orElseThrow().advice())
        .extracting(Object::toString)
        .anyMatch(line -> line.startsWith("when that reason is gone, type the command again"));
  }

  @Test
  void aBundleThatCannotBeWrittenLeavesNothingOnTheFullDisk() {
    List<ArchiveRuns.Archived> done =
        site.archive(
            List.of(run),
            step -> {
              if (step == ArchiveStep.HALF_WRITTEN) {
                throw new UncheckedIOException(new IOException("No space left on device"));
              }
            },
            step -> {});

    assertThat(done.get(0).failed()).isPresent();
    assertThat(site.cold).isEmptyDirectory();
    assertThat(checkpoints).isDirectory();
  }

  @Test
  void eachReadingOfTheFilesIsAPhase() {
    site.archive(List.of(run), step -> {}, step -> {});

    List<String> phases = site.site.progress.lines();
    assertThat(phases)
        .extracting(line -> line.replaceAll(" \\d.*", ""))
        .containsExactly(
            "measuring",
            "packing " + run.id(),
            "checking " + run.id(),
            "comparing " + run.id(),
            "storing " + run.id(),
            "measuring",
            "moving");
    assertThat(phases.subList(1, 4))
        .allMatch(line -> line.matches(".* (\\d+)/\\1 entries (\\d+)/\\2 bytes"));
    assertThat(phases).last().isEqualTo("moving 2/2 paths");
  }

  @Test
  void aRunThatAnotherCommandHasArchivedMeanwhileIsNamedAsSuch() {
    List<ArchiveRuns.Archived> done = site.archive(List.of(run, run), step -> {}, step -> {});

    assertThat(done.get(0).failed()).isEmpty();
    assertThat(done.get(1).failed().orElseThrow())
        .hasMessageContaining("another command has archived it meanwhile, in " + site.cold);
  }
}
