package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A folder as it was: its folders, its files and its links. */
public final class Tree {
  private static final Object FOLDER = new Object();

  private final Path root;

  /** By path: bytes for a file, a path for a link. */
  private final Map<Path, Object> entries = new TreeMap<>();

  /** What is there now. */
  public Tree(Path root) {
    this.root = root;
    try (Stream<Path> all = Files.walk(root)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        entries.put(path, entry(path));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Object entry(Path path) throws IOException {
    if (Files.isSymbolicLink(path)) {
      return Files.readSymbolicLink(path);
    }
    return Files.isDirectory(path) ? FOLDER : Files.readAllBytes(path);
  }

  /** Makes it so again. */
  public void restore() {
    delete(root);
    try {
      for (Map.Entry<Path, Object> entry : entries.entrySet()) {
        if (entry.getValue() == FOLDER) {
          Files.createDirectory(entry.getKey());
        } else if (entry.getValue() instanceof Path target) {
          Files.createSymbolicLink(entry.getKey(), target);
        } else {
          Files.write(entry.getKey(), (byte[]) entry.getValue());
        }
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Removes a file, a link, or a folder with all that is in it. */
  public static void delete(Path path) {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (Stream<Path> inside = Files.walk(path)) {
      List<Path> deepestFirst = inside.sorted(Comparator.reverseOrder()).toList();
      for (Path one : deepestFirst) {
        Files.delete(one);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
