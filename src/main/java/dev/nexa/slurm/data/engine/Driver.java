package dev.nexa.slurm.data.engine;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.program.DuckDb;
import dev.nexa.slurm.base.program.OwnProgram;
import dev.nexa.slurm.base.program.ProgramFile;
import dev.nexa.slurm.base.program.UserCache;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Properties;
import java.util.Set;

/**
 * DuckDB's driver, loaded from the folder beside our jar. The native library is written there once;
 * it is never unpacked to {@code /tmp}, which may be mounted noexec.
 */
final class Driver {
  private static final Set<String> ARCHITECTURES = Set.of("amd64", "x86_64");

  /** One for the process: a JVM loads a native library for one class loader only. */
  private static final class Loaded {
    static final java.sql.Driver DRIVER = load();
  }

  private Driver() {}

  /**
   * Returns the driver.
   *
   * @throws NexaException if this machine is not Linux on amd64, or if the library cannot be loaded
   */
  static java.sql.Driver get() {
    requirePlatform(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
    return Loaded.DRIVER;
  }

  /** Refuses a machine if our jar has no native library for it. */
  static void requirePlatform(String system, String architecture) {
    if (!system.equals("Linux") || !ARCHITECTURES.contains(architecture)) {
      throw ErrorCode.DATA_ENGINE_UNUSABLE.error(
          "the data commands need Linux on amd64 (x86_64); this machine is %s on %s"
              .formatted(system, architecture),
          "run them on an amd64 node, for example with resources.constraint");
    }
  }

  private static java.sql.Driver load() {
    Path folder = folder(OwnProgram.location().toAbsolutePath().resolveSibling(""));
    try {
      URL[] urls = {folder.resolve(DuckDb.DRIVER).toUri().toURL()};
      // Never closed: the library stays loaded as long as the process lives.
      URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
      Class<?> type = Class.forName("org.duckdb.DuckDBDriver", true, loader);
      java.sql.Driver made = (java.sql.Driver) type.getDeclaredConstructor().newInstance();
      made.connect("jdbc:duckdb:", new Properties()).close();
      return made;
    } catch (IOException | ReflectiveOperationException | SQLException | LinkageError failed) {
      throw ErrorCode.DATA_ENGINE_UNUSABLE.error(
          "DuckDB in " + folder + " cannot be loaded: " + failed,
          failed,
          Advice.step("a file system that is mounted noexec holds no native library"));
    }
  }

  /**
   * Returns a folder with DuckDB's files: beside our jar, else in the user's cache. Writes the
   * files if they are in neither.
   */
  private static Path folder(Path beside) {
    if (complete(beside)) {
      return beside.resolve(DuckDb.FOLDER);
    }
    Path caches = UserCache.folder();
    Path folder = Files.isWritable(beside) && !complete(caches) ? beside : caches;
    if (!complete(folder)) {
      lay(folder);
    }
    return folder.resolve(DuckDb.FOLDER);
  }

  private static boolean complete(Path folder) {
    return DuckDb.files().stream().allMatch(file -> Files.exists(folder.resolve(file.name())));
  }

  private static void lay(Path folder) {
    DurableFiles files = DurableFiles.onDisk();
    try {
      for (ProgramFile file : DuckDb.files()) {
        file.layIn(folder, files);
      }
    } catch (UncheckedIOException failed) {
      throw ErrorCode.DATA_ENGINE_UNUSABLE.error(
          "DuckDB's files cannot be written: " + failed.getMessage(),
          failed,
          Advice.step("make room there, or set XDG_CACHE_HOME to a folder that you may write"));
    }
  }
}
