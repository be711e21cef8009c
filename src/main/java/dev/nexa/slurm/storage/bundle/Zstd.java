package dev.nexa.slurm.storage.bundle;

import io.airlift.compress.zstd.ZstdInputStream;
import io.airlift.compress.zstd.ZstdOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads and writes files that are compressed with Zstandard. */
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

  /**
   * Begins to compress.
   *
   * @param out gets the compressed bytes; stays open
   */
  public static OutputStream into(OutputStream out) throws IOException {
    return new ZstdOutputStream(
        new FilterOutputStream(out) {
          @Override
          public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
          }

          @Override
          public void close() throws IOException {
            flush();
          }
        });
  }
}
