package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Standard output that remembers the first write error. System.out and PrintWriter do not report
 * errors.
 */
public final class Stdout extends OutputStream {
  private final OutputStream out = new FileOutputStream(FileDescriptor.out);
  private String failure = "";

  /**
   * Returns whether standard output is a terminal. {@code System.console()} depends on standard
   * input too, and is never null from Java 22 on.
   */
  public static boolean isTerminal() {
    return isTerminal(1);
  }

  /**
   * Returns whether a person is at a terminal: standard input and standard error both lead to one.
   */
  public static boolean canAsk() {
    return isTerminal(0) && isTerminal(2);
  }

  /** Returns the regular file that standard output leads to; empty for others. */
  static Optional<Path> file() {
    Path target = Path.of(target(1));
    return Files.isRegularFile(target) ? Optional.of(target) : Optional.empty();
  }

  /** Returns whether a descriptor leads to a terminal: 2 is standard error. */
  static boolean isTerminal(int descriptor) {
    String target = target(descriptor);
    return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
  }

  /** Returns what a descriptor leads to, such as a device or {@code pipe:[7]}; empty if unknown. */
  private static String target(int descriptor) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
    } catch (IOException | UnsupportedOperationException notLinux) {
      return "";
    }
  }

  /**
   * Returns whether the output may reach a terminal: true unless it is a pipe, a socket, a regular
   * file or /dev/null.
   *
   * @param descriptor 1 for standard output, 2 for standard error
   */
  public static boolean mayBeTerminal(int descriptor) {
    String target = target(descriptor);
    return !target.startsWith("pipe:")
        && !target.startsWith("socket:")
        && !target.equals("/dev/null")
        && !Files.isRegularFile(Path.of("/proc/self/fd/" + descriptor));
  }

  /**
   * Returns the first write error; empty if there is none, or if the reader closed the pipe ({@code
   * | head}).
   */
  public String failure() {
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
