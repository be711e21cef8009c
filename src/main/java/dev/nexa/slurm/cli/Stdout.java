package dev.nexa.slurm.cli;

import dev.nexa.slurm.files.DurableFiles;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Standard output that remembers why it could not be written: System.out and writers keep silent.
 */
final class Stdout extends OutputStream {
  private final OutputStream out = new FileOutputStream(FileDescriptor.out);
  private String failure = "";

  /**
   * Whether it is a terminal. {@code System.console()} asks about the input as well, and from Java
   * 22 on is never null.
   */
  static boolean isTerminal() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException notLinux) {
      return false;
    }
  }

  /** The first failure; none is that the reader has had enough ({@code | head}). */
  String failure() {
    return failure.equals("Broken pipe") ? "" : failure;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException failed) {
      failure = failure.isEmpty() ? DurableFiles.reason(failed) : failure;
      throw failed;
    }
  }
}
