package dev.nexa.slurm.config;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * The files that our jar carries. Read from the jar itself, because a resource's URL takes 7 ms of
 * a submit; where we don't run from one jar, they are resources.
 */
final class Carried {
  private static final Optional<ZipFile> JAR = jar();

  private Carried() {}

  private static Optional<ZipFile> jar() {
    String classPath = System.getProperty("java.class.path", "");
    try {
      return classPath.endsWith(".jar") ? Optional.of(new ZipFile(classPath)) : Optional.empty();
    } catch (IOException severalEntries) {
      return Optional.empty();
    }
  }

  /** The file's content; null where there is no such file. */
  static @Nullable InputStream open(String path) throws IOException {
    if (JAR.isEmpty()) {
      return Carried.class.getResourceAsStream("/" + path);
    }
    ZipEntry entry = JAR.get().getEntry(path);
    return entry == null ? null : JAR.get().getInputStream(entry);
  }
}
