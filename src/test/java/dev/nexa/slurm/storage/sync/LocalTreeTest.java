package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.storage.sync.SyncPlan.Skipped;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalTreeTest {
  @TempDir Path folder;

  @Test
  void walksInTheOrderOfKeysAndNamesWhatItSkips() throws IOException {
    for (String path : List.of("a/b", "a.txt", "a0", "b", "z/é", "z/.nexa-x/y")) {
      SyncTrial.write(folder.resolve("t").resolve(path), new byte[] {1});
    }
    Files.createSymbolicLink(folder.resolve("t/link"), folder);
    List<Skipped> skipped = new ArrayList<>();
    List<String> paths = new ArrayList<>();
    try (LocalTree.Walk walk =
        new LocalTree(folder.resolve("t")).walk(SyncTrial.usual(), skipped::add)) {
      walk.forEachRemaining(file -> paths.add(file.path()));
    }
    assertThat(paths).containsExactly("a.txt", "a/b", "a0", "b", "z/é");
    assertThat(skipped).containsExactly(new Skipped("link", "a symbolic link", true));
  }

  @Test
  void neverWritesThroughALink() throws IOException {
    Path root = Files.createDirectories(folder.resolve("root"));
    Path outside = Files.createDirectories(folder.resolve("outside"));
    Files.createSymbolicLink(root.resolve("sub"), outside);
    Files.createSymbolicLink(root.resolve("file"), outside.resolve("target"));
    LocalTree tree = new LocalTree(root);
    Path part = Files.write(folder.resolve("part"), new byte[] {1});

    assertThatThrownBy(() -> tree.place(part, "sub/x", Optional.empty()))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> tree.place(part, "file", Optional.empty()))
        .isInstanceOf(StoreException.class);
    assertThat(outside).isEmptyDirectory();
    assertThatThrownBy(() -> tree.stat("sub/x")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> tree.read("file")).isInstanceOf(IOException.class);
    assertThat(tree.stat("file")).isEmpty();
  }

  /** A folder that somebody swaps for a link while files are put into it and deleted from it. */
  @Test
  void aFolderThatIsSwappedForALinkLeadsNowhere() throws Exception {
    Path root = Files.createDirectories(folder.resolve("root"));
    Path outside = Files.createDirectories(folder.resolve("outside"));
    for (int i = 0; i < 50; i++) {
      Files.write(outside.resolve("f" + i), new byte[] {1});
    }
    Path sub = Files.createDirectories(root.resolve("sub"));
    AtomicBoolean stop = new AtomicBoolean();
    Thread swapper =
        new Thread(
            () -> {
              while (!stop.get()) {
                try {
                  Files.move(sub, root.resolve("aside"));
                  Files.createSymbolicLink(sub, outside);
                  Files.delete(sub);
                  Files.move(root.resolve("aside"), sub);
                } catch (IOException raced) {
                  // The tree made the folder meanwhile.
                  try {
                    Files.deleteIfExists(sub);
                  } catch (IOException again) {
                    // Tries again.
                  }
                }
              }
            });
    swapper.start();
    LocalTree tree = new LocalTree(root);
    for (int i = 0; i < 3000; i++) {
      Path part = Files.write(folder.resolve("part" + i), new byte[] {7, 7});
      try {
        tree.place(part, "sub/new" + i, Optional.empty());
      } catch (IOException | StoreException refused) {
        Files.deleteIfExists(part);
      }
      try {
        tree.delete(
            new LocalFile(
                "sub/f" + i % 50,
                1,
                Files.getLastModifiedTime(outside.resolve("f" + i % 50)).toInstant()));
      } catch (IOException | StoreException refused) {
        // Nothing was deleted.
      }
    }
    stop.set(true);
    swapper.join();
    assertThat(outside.toFile().list()).hasSize(50);
  }

  @Test
  void aFileThatIsNotAsPlannedIsNeitherReplacedNorDeleted() throws IOException {
    SyncTrial.write(folder.resolve("root/x"), new byte[] {1});
    LocalTree tree = new LocalTree(folder.resolve("root"));
    LocalFile planned = tree.stat("x").orElseThrow();
    SyncTrial.write(folder.resolve("root/x"), new byte[] {1, 2});
    Path part = Files.write(folder.resolve("part"), new byte[] {3});

    assertThatThrownBy(() -> tree.place(part, "x", Optional.of(planned)))
        .isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> tree.place(part, "x", Optional.empty()))
        .isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> tree.delete(planned)).isInstanceOf(StoreException.class);
    assertThat(folder.resolve("root/x")).hasBinaryContent(new byte[] {1, 2});
  }
}
