package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.command.storage.OwnProcess.Ended;
import dev.nexa.slurm.command.storage.OwnProcess.Typed;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.storage.archive.ArchiveSite;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An `archive` that is ended from outside while it writes a bundle. */
class ArchiveInterruptedTest {
  private static final String RUN = "train_20251001_143200";

  /** A sparse file: packing it takes a minute, and its bundle takes little room. */
  private static final long SIZE = 16L << 30;

  @TempDir Path folder;
  private ArchiveSite site;
  private Path checkpoints;

  @BeforeEach
  void begin() throws IOException {
    site = new ArchiveSite(folder);
    RunFolder run = site.run(RUN);
    checkpoints = site.checkpoints(run);
    try (RandomAccessFile sparse =
        new RandomAccessFile(checkpoints.resolve("sparse.bin").toFile(), "rw")) {
      sparse.setLength(SIZE);
    }
    CleanupSite.old(checkpoints);
  }

  @Test
  void sigtermRemovesTheHalfBundleAndSaysSo() throws Exception {
    Typed archive = archive();
    half();

    archive.process().destroy();
    Ended ended = archive.ended();

    assertThat(ended.status()).as(ended.text()).isEqualTo(143);
    assertThat(ended.err())
        .contains("interrupted: the half-written bundle was removed")
        .contains("type the command again");
    assertThat(site.cold).isEmptyDirectory();
    assertThat(checkpoints.resolve("sparse.bin")).hasSize(SIZE);
    assertThat(type("archive", "list").err()).isEmpty();
  }

  @Test
  void afterSigkillTheListNamesTheHalfBundle() throws Exception {
    Typed archive = archive();
    Path half = half();

    archive.process().destroyForcibly();
    assertThat(archive.ended().status()).isEqualTo(137);

    Screen list = type("archive", "list");
    assertThat(list.err())
        .contains("note: " + half + " (", ") is an unfinished bundle of " + RUN)
        .contains("nexa-slurm archive " + RUN + " --to " + site.cold)
        .contains("rm " + half);
    assertThat(type("archive", "list", "--json").json().objects("unfinished").get(0).text("file"))
        .isEqualTo(half.toString());
    Files.delete(half);
    assertThat(type("archive", "list").err()).isEmpty();
  }

  private Screen type(String... words) {
    return site.site.terminal.type(words);
  }

  private Typed archive() {
    return new OwnProcess(site.site.terminal.workspace, folder)
        .start(
            Map.of("PATH", site.site.terminal.bin + ":/usr/bin:/bin"),
            List.of("archive", RUN, "--to", site.cold.toString(), "--yes"));
  }

  /** Waits for the hidden file, and returns it. */
  private Path half() throws Exception {
    Instant end = Instant.now().plus(Duration.ofMinutes(1));
    while (Instant.now().isBefore(end)) {
      Optional<Path> half = hidden();
      if (half.isPresent()) {
        return half.get();
      }
      Thread.sleep(20);
    }
    throw new AssertionError("the archive wrote no bundle");
  }

  private Optional<Path> hidden() throws IOException {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(site.cold, ".*.tmp")) {
      for (Path file : found) {
        return Optional.of(file);
      }
    }
    return Optional.empty();
  }
}
