package dev.nexa.slurm.storage.sync;

import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;

/**
 * A regular file of a folder.
 *
 * @param path relative to the folder, with slashes
 */
public record LocalFile(String path, long bytes, Instant modified) {
  static LocalFile of(String path, BasicFileAttributes facts) {
    return new LocalFile(path, facts.size(), facts.lastModifiedTime().toInstant());
  }
}
