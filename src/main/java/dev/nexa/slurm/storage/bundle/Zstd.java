package dev.nexa.slurm.storage.bundle;

import io.airlift.compress.zstd.ZstdInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads files that are compressed with Zstandard. */
public final class Zstd {
  private Zstd() {}

  /**
   * Opens a file.
   *
   * @throws IOException if it cannot be opened; the stream throws one if it is no such file
   */
  public static InputStream open(Path file) throws IOException {
    return new ZstdInputStream(Files.newInputStream(file));
  }
}
