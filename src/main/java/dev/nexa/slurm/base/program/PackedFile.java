package dev.nexa.slurm.base.program;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Reads the files that lie beside our classes. */
public final class PackedFile {
  private PackedFile() {}

  /**
   * Returns the content of a file.
   *
   * @param beside a class of the file's folder
   */
  public static byte[] bytes(Class<?> beside, String name) {
    try (InputStream in = beside.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the jar lacks " + name);
      }
      return in.readAllBytes();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + name, failed);
    }
  }

  /** Returns the content of a file of text. */
  public static String text(Class<?> beside, String name) {
    return new String(bytes(beside, name), StandardCharsets.UTF_8);
  }
}
