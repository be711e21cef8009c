package dev.nexa.slurm.storage.cleanup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.records.runs.RunFolder;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody else can write to a tier, and wants files outside it to be removed. */
class HostileTreeTest {
  private static final int SWAPS = SuiteSize.of("cleanup.swaps", 100, 2000);
  private static final String RUN = "train_20251001_143200";

  @TempDir Path folder;
  private CleanupSite site;
  private Path treasure;

  @BeforeEach
  void hide() {
    site = new CleanupSite(folder);
    treasure = folder.resolve("treasure");
    for (int i = 0; i < 20; i++) {
      CleanupSite.write(treasure.resolve("deep/" + i), "gold");
    }
    CleanupSite.old(treasure);
  }

  private void treasureIsWhole() {
    for (int i = 0; i < 20; i++) {
      assertThat(treasure.resolve("deep/" + i)).hasContent("gold");
    }
  }

  private void cleanTwice() {
    for (int i = 0; i < 2; i++) {
      CleanTiers clean = site.clean(step -> {});
      clean.run(site.plan(clean, Duration.ZERO));
    }
  }

  @Test
  void linksInATreeAreRemovedAndNotFollowed() throws IOException {
    Path left = site.scratchOf(site.ended(RUN), "x");
    Files.createSymbolicLink(left.resolve("task_0/out"), treasure);
    Files.createSymbolicLink(left.resolve("task_0/up"), Path.of(".."));
    Files.createSymbolicLink(left.resolve("task_0/loop"), left);
    Files.createSymbolicLink(left.resolve("task_0/nothing"), Path.of("gone"));
    Files.createLink(left.resolve("task_0/hard"), treasure.resolve("deep/0"));
    CleanupSite.old(left);

    age(left);
    cleanTwice();

    assertThat(left).doesNotExist();
    assertThat(site.scratch.resolve(".nexa-trash")).doesNotExist();
    treasureIsWhole();
  }

  /** Links have their own times. */
  private static void age(Path tree) throws IOException {
    new ProcessBuilder(
            "sh", "-c", "find \"$1\" -exec touch -h -d '30 days ago' {} +", "sh", "" + tree)
        .start()
        .onExit()
        .join();
  }

  @Test
  void aLinkInPlaceOfAFolderIsKept() throws IOException {
    RunFolder run = site.ended(RUN);
    CleanupSite.write(site.scratch.resolve(".nexa-scratch/" + RUN), run.path() + "\n");
    Files.createSymbolicLink(site.scratch.resolve(RUN), treasure);
    site.checkpointsOf(
        site.ended("train_20251002_143200"), java.util.Optional.empty(), "checkpoint-1");
    CleanupSite.write(site.durable.resolve(".nexa-runs/" + RUN), run.path() + "\n");
    Files.createSymbolicLink(site.durable.resolve("checkpoints/" + RUN), treasure);

    cleanTwice();

    assertThat(Files.isSymbolicLink(site.scratch.resolve(RUN))).isTrue();
    assertThat(Files.isSymbolicLink(site.durable.resolve("checkpoints/" + RUN))).isTrue();
    treasureIsWhole();
  }

  @Test
  void linksInPlaceOfTheTrashAndTheClaimsAreRefused() throws IOException {
    Path left = site.scratchOf(site.ended(RUN), "x");
    Files.createSymbolicLink(site.scratch.resolve(".nexa-trash"), treasure);
    CleanTiers clean = site.clean(step -> {});

    CleanTiers.Done done = clean.run(site.plan(clean, Duration.ZERO));

    assertThat(done.failed()).hasSize(1);
    assertThat(left.resolve("task_0/data.bin")).exists();
    Files.delete(site.scratch.resolve(".nexa-trash"));
    Files.move(site.scratch.resolve(".nexa-scratch"), treasure.resolve("claims"));
    Files.createSymbolicLink(site.scratch.resolve(".nexa-scratch"), treasure.resolve("claims"));
    cleanTwice();
    assertThat(left.resolve("task_0/data.bin")).exists();
    treasureIsWhole();
  }

  @Test
  void aClaimOutsideTheWorkspaceIsForeign() {
    RunFolder run = site.ended(RUN);
    Path left = site.scratchOf(run, "x");
    for (String claim :
        new String[] {
          run.path() + "/../" + RUN, "/", "", "..", run.path() + "x", "/tmp/runs/" + RUN, "\n\n"
        }) {
      CleanupSite.write(site.scratch.resolve(".nexa-scratch/" + RUN), claim);
      cleanTwice();
      assertThat(left).as(claim).exists();
    }
  }

  /** While a cleanup walks, moves and deletes, folders are swapped for links to the treasure. */
  @Test
  void swappedFoldersLeadNowhere() throws Exception {
    RunFolder run = site.ended(RUN);
    AtomicBoolean stop = new AtomicBoolean();
    AtomicInteger swaps = new AtomicInteger();
    Thread swapper =
        new Thread(
            () -> {
              Path aside = folder.resolve("aside");
              Path link = folder.resolve("link");
              while (!stop.get()) {
                swap(site.scratch.resolve(RUN), aside, link, swaps);
                swap(site.scratch.resolve(RUN).resolve("task_0"), aside, link, swaps);
                swap(inTrash(), aside, link, swaps);
              }
            });
    swapper.start();
    try {
      for (int i = 0; i < SWAPS || swaps.get() < SWAPS; i++) {
        prepare(run);
        try {
          CleanTiers clean = site.clean(step -> {});
          clean.run(site.plan(clean, Duration.ZERO));
        } catch (dev.nexa.slurm.base.error.NexaException refused) {
          // A tier that changes all the time may be refused as a whole.
        }
        if (i > 100 * SWAPS) {
          break;
        }
      }
    } finally {
      stop.set(true);
      swapper.join();
    }
    assertThat(swaps.get()).isPositive();
    treasureIsWhole();
  }

  private void prepare(RunFolder run) {
    try {
      for (int n = 0; n < 3; n++) {
        CleanupSite.write(site.scratch.resolve(RUN + "/task_0/" + n + "/data.bin"), "x");
      }
      CleanupSite.write(site.scratch.resolve(".nexa-scratch/" + RUN), run.path() + "\n");
      CleanupSite.old(site.scratch.resolve(RUN));
    } catch (java.io.UncheckedIOException swapped) {
      // The swapper was faster. If it led the test itself into the treasure, that is undone.
    }
    for (int n = 0; n < 3; n++) {
      removeOwn(treasure.resolve("deep/task_0"));
      removeOwn(treasure.resolve("task_0"));
      removeOwn(treasure.resolve("" + n));
    }
  }

  private static void removeOwn(Path path) {
    try {
      if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
        Files.walkFileTree(
            path,
            new SimpleFileVisitor<>() {
              @Override
              public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                  throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
              }

              @Override
              public FileVisitResult postVisitDirectory(
                  Path dir, java.io.@org.jspecify.annotations.Nullable IOException failed)
                  throws IOException {
                Files.delete(dir);
                return FileVisitResult.CONTINUE;
              }
            });
      }
    } catch (IOException busy) {
      // The next round removes it.
    }
  }

  private Path inTrash() {
    try (var ids = Files.list(site.scratch.resolve(".nexa-trash"))) {
      return ids.findFirst().orElse(folder.resolve("none")).resolve("1." + RUN);
    } catch (IOException | java.io.UncheckedIOException none) {
      return folder.resolve("none");
    }
  }

  private void swap(Path path, Path aside, Path link, AtomicInteger swaps) {
    try {
      if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
        return;
      }
      Files.createSymbolicLink(link, treasure);
      Files.move(path, aside);
      Files.move(link, path);
      swaps.incrementAndGet();
      Files.delete(path);
      Files.move(aside, path);
    } catch (IOException | java.io.UncheckedIOException raced) {
      // The cleanup was faster.
    }
    for (Path left : new Path[] {link, aside}) {
      try {
        if (Files.isDirectory(left, LinkOption.NOFOLLOW_LINKS)) {
          removeOwn(left);
        }
        Files.deleteIfExists(left);
      } catch (IOException kept) {
        // The next round tries it again.
      }
    }
  }
}
