package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableFilesTest {
  private final FakeSync sync = new FakeSync();
  private final DurableFiles files = new DurableFiles(sync);
  private final Path folder =
      Jimfs.newFileSystem(
              Configuration.unix().toBuilder().setAttributeViews("basic", "posix").build())
          .getPath("/runs");
  private final Path file = folder.resolve("manifest.json");

  @BeforeEach
  void makeFolder() throws IOException {
    Files.createDirectory(folder);
  }

  @Test
  void aReplacedFileIsForcedBeforeItsNameIs() {
    files.replace(file, "new");

    assertThat(sync.forced()).containsExactly("new", "/runs/");
    assertThat(file).hasContent("new");
  }

  @Test
  void whatIsClaimedIsOnesOwnAndDurable() throws IOException {
    byte[] mine = "mine".getBytes(java.nio.charset.StandardCharsets.UTF_8);

    assertThat(files.claim(file, mine, "rw-r--r--")).isTrue();
    assertThat(sync.forced()).containsExactly("mine", "/runs/");
    assertThat(files.claim(file, new byte[] {1}, "rw-r--r--")).isFalse();

    assertThat(file).hasContent("mine");
    assertThat(names()).containsExactly("manifest.json");
  }

  @Test
  void aWriteThatFailsLeavesTheOldContentAndNoRubbish() throws IOException {
    files.replace(file, "old");
    sync.breakAt(folder);

    assertThatThrownBy(() -> files.replace(file, "new"))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessage("Cannot write /runs/manifest.json: No space left on device");

    assertThat(file).hasContent("old");
    assertThat(names()).containsExactly("manifest.json");
  }

  @Test
  void aWriteThatFailsInTheDirectoryLeavesTheOldOrTheNewContent() throws IOException {
    FakeSync directoryFails = new FakeSync();
    DurableFiles broken =
        new DurableFiles(
            path -> {
              if (Files.isDirectory(path)) {
                directoryFails.breakAt(path);
              }
              directoryFails.force(path);
            });
    files.replace(file, "old");

    assertThatThrownBy(() -> broken.replace(file, "new")).isInstanceOf(UncheckedIOException.class);

    assertThat(Files.readString(file)).isIn("old", "new");
    assertThat(names()).containsExactly("manifest.json");
  }

  @Test
  void aReaderSeesTheOldOrTheNewContentAndNothingInBetween() throws Exception {
    String old = "a".repeat(100_000);
    String fresh = "b".repeat(100_000);
    files.replace(file, old);
    ExecutorService writer = Executors.newSingleThreadExecutor();
    try {
      Future<?> written =
          writer.submit(
              () -> {
                for (int i = 0; i < 100; i++) {
                  files.replace(file, i % 2 == 0 ? fresh : old);
                }
              });
      while (!written.isDone()) {
        assertThat(Files.readString(file)).isIn(old, fresh);
      }
      written.get();
    } finally {
      writer.shutdown();
    }
  }

  @Test
  void aNewFileHasThePermissionsAskedFor() throws IOException {
    files.create(file, "x".getBytes(StandardCharsets.UTF_8), "r--------");

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("r--------");
    assertThat(sync.forced()).containsExactly("x");
  }

  @Test
  void aNewFileNeverReplacesOneThatIsThere() throws IOException {
    Files.writeString(file, "first");

    assertThatThrownBy(() -> files.create(file, new byte[0], "r--------"))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("/runs/manifest.json");

    assertThat(file).hasContent("first");
  }

  @Test
  void theFirstAppendAlsoForcesTheName() {
    files.append(file, "one\n");
    files.append(file, "two\n");

    assertThat(sync.forced()).containsExactly("/runs/");
    assertThat(file).hasContent("one\ntwo\n");
  }

  @Test
  void truncateKeepsTheFirstBytes() {
    files.append(file, "whole\ntorn");

    files.truncate(file, 6);

    assertThat(file).hasContent("whole\n");
  }

  @Test
  void oneOfManyClaimsADirectory() throws Exception {
    Path claim = folder.resolve("train_20251101_143200");
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      Callable<Boolean> attempt = () -> files.claimDirectory(claim);
      List<Future<Boolean>> attempts = pool.invokeAll(java.util.Collections.nCopies(8, attempt));
      int winners = 0;
      for (Future<Boolean> each : attempts) {
        winners += each.get() ? 1 : 0;
      }
      assertThat(winners).isEqualTo(1);
    } finally {
      pool.shutdown();
    }
  }

  /** A deterministic form: the name is gone when the two files are compared. */
  @Test
  void aNameThatIsGivenUpWhileItIsClaimedIsNotOnesOwn(@TempDir Path disk) throws IOException {
    Path name = disk.resolve("name");
    // A link to nothing: link(2) finds a file, and the comparison does not.
    Files.createSymbolicLink(name, disk.resolve("gone"));

    assertThat(DurableFiles.onDisk().claim(name, "mine")).isFalse();
    assertThat(DurableFiles.onDisk().claim(name, new byte[] {1}, "rw-r--r--")).isFalse();
    assertThat(disk.toFile().list()).containsExactly("name");
  }

  @Test
  void claimsAndReleasesOfOneNameNeverFail(@TempDir Path disk) throws Exception {
    DurableFiles onDisk = DurableFiles.onDisk();
    Path name = disk.resolve("name");
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      Callable<Integer> claimer =
          () -> {
            int claimed = 0;
            for (int i = 0; i < 1000; i++) {
              if (onDisk.claim(name, "mine")) {
                claimed++;
                onDisk.unmark(name);
              }
            }
            return claimed;
          };
      int claimed = 0;
      for (Future<Integer> one : threads.invokeAll(List.of(claimer, claimer, claimer, claimer))) {
        claimed += one.get();
      }
      assertThat(claimed).isPositive();
    } finally {
      threads.shutdownNow();
    }
    assertThat(disk.toFile().list()).isEmpty();
  }

  @Test
  void aMarkIsMadeOnceAndTakenAwayOnce() {
    files.mark(file);
    files.mark(file);
    assertThat(file).exists();

    files.unmark(file);
    files.unmark(file);
    assertThat(file).doesNotExist();
    // A mark that a power cut brings back is found once more, and taken away again.
    assertThat(sync.forced()).containsExactly("/runs/");
  }

  @Test
  void whatDeadWritersLeftIsSweptAway() throws IOException {
    Path left = Files.createFile(folder.resolve(".a.json.17.1.tmp"));
    Path other = Files.createFile(folder.resolve(".b.json.17.2.tmp"));
    Path kept = Files.createFile(folder.resolve("a.json"));

    Path lock = Files.createFile(folder.resolve("..lock.host.17.3.tmp"));

    files.sweep(folder, ".a.json.", ".lock");
    assertThat(other).exists();
    assertThat(left).doesNotExist();
    files.sweep(folder, ".", ".lock");
    files.sweep(folder.resolve("nowhere"), ".", ".lock");

    assertThat(other).doesNotExist();
    assertThat(lock).as("somebody is about to take it").exists();

    assertThat(kept).exists();
  }

  @Test
  void aLinkIsReplacedInOneStep() throws IOException {
    Path latest = folder.resolve("latest");

    files.link(latest, latest.getFileSystem().getPath("run_1"), folder);
    files.link(latest, latest.getFileSystem().getPath("run_2"), folder);

    assertThat(Files.readSymbolicLink(latest)).hasToString("run_2");
    assertThat(names()).containsExactly("latest");
  }

  @Test
  void aMissingFileIsNamed() {
    assertThatThrownBy(() -> DurableFiles.read(file))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessage("No such file: /runs/manifest.json");
    assertThatThrownBy(() -> DurableFiles.readBytes(file))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessage("No such file: /runs/manifest.json");
  }

  @Test
  void theRealDiskTakesAFileAndItsDirectory() throws IOException {
    Path temp = Files.createTempDirectory("durable");
    Path real = temp.resolve("file");

    DurableFiles.onDisk().replace(real, "content");

    assertThat(real).hasContent("content");
    Files.delete(real);
    Files.delete(temp);
  }

  private List<String> names() throws IOException {
    try (Stream<Path> names = Files.list(folder)) {
      return names.map(name -> name.getFileName().toString()).toList();
    }
  }
}
