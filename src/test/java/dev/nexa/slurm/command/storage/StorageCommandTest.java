package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StorageCommandTest {
  private static final String RUN = "train_20251001_143200";

  @TempDir Path folder;
  private CleanupSite site;

  @BeforeEach
  void begin() {
    site = new CleanupSite(folder);
  }

  private JsonObject tier(String name, String... more) {
    String[] arguments = new String[5 + more.length];
    System.arraycopy(
        new String[] {"storage", "status", "--tier", name, "--json"}, 0, arguments, 0, 5);
    System.arraycopy(more, 0, arguments, 5, more.length);
    Screen screen = site.terminal.type(arguments);
    assertThat(screen.exit()).as(screen.err()).isZero();
    return screen.json().objects("tiers").get(0);
  }

  @Test
  void initMakesTheFoldersOfTheSeeds() {
    Screen dry = site.terminal.type("storage", "init", "--dry-run");
    assertThat(dry.out()).contains("would make " + site.durable.resolve("evals/reports"));
    assertThat(site.durable.resolve("evals")).doesNotExist();

    Screen init = site.terminal.type("storage", "init");

    assertThat(init.exit()).as(init.err()).isZero();
    assertThat(init.out()).contains("made   " + site.scratch.resolve("wandb_offline"));
    for (String name :
        List.of(
            "scratch/dataloader_cache",
            "scratch/checkpoints_temp",
            "scratch/logs_temp",
            "scratch/wandb_offline",
            "durable/datasets",
            "durable/checkpoints",
            "durable/evals/reports",
            "durable/evals/outputs",
            "durable/manifests",
            "durable/deploy",
            "durable/logs",
            "shared/common_datasets",
            "shared/eval_prompts",
            "shared/active_jobs")) {
      assertThat(folder.resolve(name)).isDirectory();
    }
    assertThat(site.terminal.type("storage", "init").out())
        .contains("18 of 18 folders exist already");
  }

  @Test
  void newFoldersAreAsWritableAsTheTierAndOldOnesStay() throws IOException {
    Files.setAttribute(site.shared, "unix:mode", 03770);
    Files.setPosixFilePermissions(site.durable, PosixFilePermissions.fromString("rwxrwx---"));
    Path datasets = Files.createDirectory(site.durable.resolve("datasets"));
    Files.setPosixFilePermissions(datasets, PosixFilePermissions.fromString("r-x------"));

    site.terminal.type("storage", "init");

    assertThat(
            (Integer) Files.getAttribute(site.shared.resolve("active_jobs"), "unix:mode") & 07777)
        .isEqualTo(03770);
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(site.durable.resolve("logs"))))
        .isEqualTo("rwxrwx---");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(datasets)))
        .isEqualTo("r-x------");
  }

  /** Without the bit, a file that one person makes in deploy/ is not the team's. */
  @Test
  void newFoldersKeepTheGroupOfTheTier() throws IOException {
    Files.setAttribute(site.durable, "unix:mode", 02775);

    site.terminal.type("storage", "init");

    assertThat((Integer) Files.getAttribute(site.durable.resolve("deploy"), "unix:mode") & 07777)
        .isEqualTo(02775);
  }

  @Test
  void whatStandsInTheWayIsNamed() throws IOException {
    Files.writeString(site.durable.resolve("deploy"), "a file");
    Files.createSymbolicLink(site.durable.resolve("logs"), Path.of("/nowhere"));
    Path elsewhere = Files.createDirectories(folder.resolve("bucket"));
    Files.createSymbolicLink(site.durable.resolve("datasets"), elsewhere);

    Screen init = site.terminal.type("storage", "init");

    assertThat(init.exit()).isEqualTo(2);
    assertThat(init.err())
        .contains(site.durable.resolve("deploy") + " could not be made: it is no folder")
        .contains(site.durable.resolve("logs") + " could not be made: it is a link to nothing");
    assertThat(site.durable.resolve("checkpoints")).isDirectory();
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void statusCountsFilesOfEachRun() throws IOException {
    site.scratchOf(site.ended(RUN), "12345");
    CleanupSite.write(site.scratch.resolve("logs_temp/a"), "123");
    Path outside = CleanupSite.write(folder.resolve("outside/huge"), "x".repeat(100_000));
    Files.createSymbolicLink(site.scratch.resolve("link"), outside.getParent());
    try (RandomAccessFile sparse =
        new RandomAccessFile(site.scratch.resolve("logs_temp/s").toFile(), "rw")) {
      sparse.setLength(1L << 30);
    }

    JsonObject scratch = tier("scratch", "--by", "run");

    assertThat(scratch.number("files")).isEqualTo(5);
    assertThat(scratch.number("bytes")).isBetween((1L << 30) + 8, (1L << 30) + 1000);
    assertThat(scratch.number("allocated_bytes")).isLessThan(1 << 20);
    assertThat(scratch.number("free_bytes")).isPositive();
    JsonObject run = scratch.objects("rows").get(1);
    assertThat(run.text("key")).isEqualTo(RUN);
    Screen text = site.terminal.type("storage", "status", "--by", "folder");
    assertThat(text.out()).contains("TIER", "logs_temp", "1 GiB", RUN);
    assertThat(site.terminal.type("storage", "status", "--by", "x").err())
        .contains("--by: expected run, user or folder");
  }

  @Test
  void aTierThatIsNotHereIsNamed() throws IOException {
    Files.move(site.shared, site.shared.resolveSibling("unmounted"));

    assertThat(site.terminal.type("storage", "status").err())
        .contains(
            site.shared + " (storage.shared in configs/clusters/default.yaml) is not on this host");
  }

  @Test
  void aTierThatIsAFileIsNamedAsSuch() throws IOException {
    Files.move(site.shared, site.shared.resolveSibling("unmounted"));
    Files.createFile(site.shared);

    assertThat(site.terminal.type("storage", "status").err())
        .contains("is a file; move it away, or correct the profile")
        .doesNotContain("storage init");
  }

  @Test
  void namesWithAnyByteAreCounted() throws IOException {
    CleanupSite.write(site.scratch.resolve("a b/c\nd"), "1");
    CleanupSite.write(site.scratch.resolve(" /\u00fc"), "1");

    assertThat(tier("scratch").number("files")).isEqualTo(2);
  }
}
