package dev.nexa.slurm.job.config.yaml;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files in the jar.
 *
 * <p>Opens the jar itself, because a resource's URL adds 7 ms to each submit. If the class path is
 * not one jar, reads them as resources.
 */
final class PackagedFiles {
  private static final Optional<ZipFile> JAR = jar();

  private PackagedFiles() {}

  private static Optional<ZipFile> jar() {
    String classPath = System.getProperty("java.class.path", "");
    try {
      return classPath.endsWith(".jar") ? Optional.of(new ZipFile(classPath)) : Optional.empty();
    } catch (IOException severalEntries) {
      return Optional.empty();
    }
  }

  /** Opens a file of the jar; null if it does not exist. */
  static @Nullable InputStream open(String path) throws IOException {
    if (JAR.isEmpty()) {
      return PackagedFiles.class.getResourceAsStream("/" + path);
    }
    ZipEntry entry = JAR.get().getEntry(path);
    return entry == null ? null : JAR.get().getInputStream(entry);
  }
}
