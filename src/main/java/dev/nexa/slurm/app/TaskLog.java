package dev.nexa.slurm.app;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How far one task's log has been copied. The file is open only while it is read; a line that is
 * not finished is read again later.
 */
final class TaskLog {
  /** A line longer than this is copied in pieces, each as a line of its own. */
  static final int LONGEST_LINE = 64 << 10;

  private final byte[] prefix;
  private Path file;
  private long position;

  /** What is in the file from that byte on. */
  TaskLog(Path file, long position, String prefix) {
    this.file = file;
    this.position = position;
    this.prefix = prefix.getBytes(StandardCharsets.UTF_8);
  }

  /** Where the last lines of a file begin. */
  static long startOfLast(Path file, int lines) throws IOException {
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

  /** The task prints into another file now: its job was lost and submitted again. */
  void movedTo(Path newest) {
    if (!newest.equals(file)) {
      file = newest;
      position = 0;
    }
  }

  /**
   * Copies the whole lines that have come since, each behind the prefix.
   *
   * @param bytes about how many to copy at most
   * @param unfinished whether a last line without a line feed is copied too
   */
  void copy(OutputStream out, long bytes, boolean unfinished) throws IOException {
    if (Files.size(file) <= position) {
      return;
    }
    try (FileChannel channel = FileChannel.open(file)) {
      byte[] block = new byte[LONGEST_LINE];
      // Up to where it ends now: a task may print faster than it is copied.
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

  /** Up to and with the last line feed. */
  private static int lines(byte[] block, int length) {
    int end = length;
    while (end > 0 && block[end - 1] != '\n') {
      end--;
    }
    return end;
  }

  /** A full block without a line feed, but for a character of UTF-8 that its end cuts. */
  private static int wholeCharacters(byte[] block) {
    int last = block.length - 1;
    while (last > block.length - 4 && (block[last] & 0xC0) == 0x80) {
      last--;
    }
    return (block[last] & 0xC0) == 0xC0 ? last : block.length;
  }

  /** A progress bar goes back to the line's start and writes over the prefix: it comes again. */
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
