package dev.nexa.slurm.base.program;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * DuckDB's two files: the driver, and the native library for Linux on amd64. Both are entries of
 * our jar, which no class path names, so that no other command loads them (docs/decisions/038). The
 * driver takes the library from the folder that it lies in itself.
 */
public final class DuckDb {
  /** The version; pom.xml has it too. */
  public static final String VERSION = "1.5.0.0";

  /** The folder of the two files, beside our jar. */
  public static final String FOLDER = "duckdb-" + VERSION;

  /** The name of the driver's jar in {@link #FOLDER}. */
  public static final String DRIVER = "duckdb.jar";

  private static final String LIBRARY = "libduckdb_java.so_linux_amd64";

  private DuckDb() {}

  /** Returns the two files; their names begin with {@link #FOLDER}. */
  public static List<ProgramFile> files() {
    return List.of(
        new ProgramFile(
            FOLDER + "/" + DRIVER,
            "493460fca20b370d0795ad48bb3cfb4d0baf5126a3f0ba7b4bc3dce45c38853e",
            DuckDb::driver),
        new ProgramFile(
            FOLDER + "/" + LIBRARY,
            "a0351f94e12983fef5a5a34880320b843faa0a2a35b34c044266708aa360798d",
            DuckDb::library));
  }

  private static void driver(OutputStream out) throws IOException {
    try (InputStream in = entry("/" + DRIVER)) {
      in.transferTo(out);
    }
  }

  /** Writes the library's bytes, which are packed in the jar that the DuckDB project publishes. */
  private static void library(OutputStream out) throws IOException {
    try (ZipInputStream packed = new ZipInputStream(entry("/duckdb-linux_amd64.jar"))) {
      for (ZipEntry entry = packed.getNextEntry(); entry != null; entry = packed.getNextEntry()) {
        if (entry.getName().equals(LIBRARY)) {
          packed.transferTo(out);
          return;
        }
      }
    }
    throw new FileNotFoundException("no " + LIBRARY + " in duckdb-linux_amd64.jar");
  }

  private static InputStream entry(String name) throws IOException {
    InputStream in = DuckDb.class.getResourceAsStream(name);
    if (in == null) {
      throw new FileNotFoundException("no " + name.substring(1) + " in nexa-slurm.jar");
    }
    return in;
  }
}
