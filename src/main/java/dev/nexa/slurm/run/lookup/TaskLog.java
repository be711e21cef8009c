package dev.nexa.slurm.run.lookup;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Copies a growing log of one task and remembers the position.
 *
 * <p>The file is open only during a call. A line without a line feed is read again at the next
 * call.
 */
public final class TaskLog {
  /** A line longer than this is copied in pieces, each as a line of its own. */
  static final int LONGEST_LINE = 64 << 10;

  private final byte[] prefix;
  private Path file;
  private long position;

  /** Makes a copier that starts at this byte and puts the prefix before each line. */
  public TaskLog(Path file, long position, String prefix) {
    this.file = file;
    this.position = position;
    this.prefix = prefix.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the offset of the last lines of a file; the file's size for zero lines. */
  public static long startOfLast(Path file, int lines) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      long end = channel.size();
      int found = 0;
      long at = lines == 0 ? 0 : end;
      byte[] block = new byte[LONGEST_LINE];
      while (at > 0) {
        int length = (int) Math.min(block.length, at);
        at -= length;
        read(channel, at, block, length);
        for (int i = length - 1; i >= 0; i--) {
          if (block[i] == '\n' && at + i < end - 1 && ++found == lines) {
            return at + i + 1;
          }
        }
      }
      return lines == 0 ? end : 0;
    }
  }

  /**
   * Continues at the start of another file, because the task's job was lost and submitted again.
   */
  public void movedTo(Path newest) {
    if (!newest.equals(file)) {
      file = newest;
      position = 0;
    }
  }

  /**
   * Copies the complete lines that were added since the last call, each after the prefix.
   *
   * @param bytes about how many bytes to copy at most
   * @param unfinished whether to copy a last line without a line feed too
   */
  public void copy(OutputStream out, long bytes, boolean unfinished) throws IOException {
    if (Files.size(file) <= position) {
      return;
    }
    try (FileChannel channel = FileChannel.open(file)) {
      byte[] block = new byte[LONGEST_LINE];
      // A limit is needed, because a task may print faster than this copies.
      long until = position + Math.min(bytes, channel.size() - position);
      while (position < until) {
        int length = read(channel, position, block, block.length);
        int whole = lines(block, length);
        if (whole == 0 && (unfinished || length == block.length)) {
          whole = length == block.length ? wholeCharacters(block) : length;
        }
        if (whole == 0) {
          return;
        }
        out.write(prefixed(block, whole));
        position += whole;
      }
    }
  }

  private static int read(FileChannel channel, long from, byte[] block, int length)
      throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(block, 0, length);
    long at = from;
    while (buffer.hasRemaining()) {
      int read = channel.read(buffer, at);
      if (read < 0) {
        break;
      }
      at += read;
    }
    return (int) (at - from);
  }

  /** Returns the length up to and including the last line feed; 0 if there is none. */
  private static int lines(byte[] block, int length) {
    int end = length;
    while (end > 0 && block[end - 1] != '\n') {
      end--;
    }
    return end;
  }

  /** Returns the length of a full block without a UTF-8 character that the block's end cuts. */
  private static int wholeCharacters(byte[] block) {
    int last = block.length - 1;
    while (last > block.length - 4 && (block[last] & 0xC0) == 0x80) {
      last--;
    }
    return (block[last] & 0xC0) == 0xC0 ? last : block.length;
  }

  /**
   * A progress bar returns to the line's start and overwrites the prefix, so the prefix is
   * repeated.
   */
  private byte[] prefixed(byte[] block, int length) {
    ByteArrayOutputStream lines = new ByteArrayOutputStream(length + 1024);
    boolean start = true;
    for (int i = 0; i < length; i++) {
      if (start) {
        lines.writeBytes(prefix);
      }
      lines.write(block[i]);
      boolean feedFollows = i + 1 < length && block[i + 1] == '\n';
      start = block[i] == '\n' || (block[i] == '\r' && !feedFollows);
    }
    if (block[length - 1] != '\n') {
      lines.write('\n');
    }
    return lines.toByteArray();
  }
}
