package dev.nexa.slurm.base.files;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * A file that is written line by line and gets its name only when it is whole.
 *
 * <p>The lines go to a temporary file beside the target. Then {@link #commit} forces it to disk and
 * renames it. Without a commit, {@link #close} removes it, so a failure leaves the old file or
 * none.
 */
public final class StagedFile implements Closeable {
  private final Path file;
  private final Path temporary;
  private final OutputStream out;
  private int longest;
  private boolean committed;

  /**
   * Opens the temporary file. The folder must exist.
   *
   * @throws UncheckedIOException if it cannot be written
   */
  public StagedFile(Path file) {
    this.file = file;
    this.temporary = DurableFiles.temporary(file);
    try {
      this.out =
          new BufferedOutputStream(
              Files.newOutputStream(temporary, StandardOpenOption.CREATE_NEW), 1 << 16);
    } catch (IOException failed) {
      throw DurableFiles.failure("write", file, failed);
    }
  }

  /** Writes the text in UTF-8 and a line feed. */
  public void line(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    longest = Math.max(longest, bytes.length);
    try {
      out.write(bytes);
      out.write('\n');
    } catch (IOException failed) {
      throw DurableFiles.failure("write", file, failed);
    }
  }

  /** Returns the bytes of the longest line so far, without its line feed. */
  public int longest() {
    return longest;
  }

  /** Gives the file its name, durably, with mode 0644. Replaces an older file. */
  public void commit() {
    try {
      out.close();
      FileModes.set(temporary, FileModes.USUAL);
      Sync.DISK.force(temporary);
      Files.move(
          temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      committed = true;
      Sync.DISK.force(DurableFiles.parent(temporary));
    } catch (IOException failed) {
      throw DurableFiles.failure("write", file, failed);
    }
  }

  @Override
  public void close() {
    if (committed) {
      return;
    }
    try {
      out.close();
    } catch (IOException full) {
      // The file is removed anyway.
    }
    DurableFiles.attempt("delete", temporary, () -> Files.deleteIfExists(temporary));
  }
}
