package dev.nexa.slurm.run.status;

import dev.nexa.slurm.records.runs.RunId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Values from files of runs, kept while the files do not change. It serves views that read again
 * and again, and that only show.
 */
final class Unchanged<T> {
  private final Map<RunId, Kept<T>> kept = new HashMap<>();

  /** The properties that differ after a file was written or replaced. */
  private record Stamp(long bytes, FileTime modified, String key) {
    static Optional<Stamp> of(Path file) {
      try {
        BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
        return Optional.of(
            new Stamp(now.size(), now.lastModifiedTime(), String.valueOf(now.fileKey())));
      } catch (IOException missing) {
        return Optional.empty();
      }
    }
  }

  private record Kept<T>(List<Optional<Stamp>> stamps, T value) {}

  /**
   * Returns what the files of a run say.
   *
   * @param files all files that the value depends on
   * @param read reads them; a failure is not kept
   */
  T of(RunId run, List<Path> files, Supplier<T> read) {
    List<Optional<Stamp>> stamps = new ArrayList<>();
    // Before the files are read: a later change is then seen the next time.
    files.forEach(file -> stamps.add(Stamp.of(file)));
    Kept<T> before = kept.get(run);
    if (before != null && before.stamps().equals(stamps)) {
      return before.value();
    }
    T value = read.get();
    kept.put(run, new Kept<>(stamps, value));
    return value;
  }
}
