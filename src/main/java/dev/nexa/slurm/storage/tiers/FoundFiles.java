package dev.nexa.slurm.storage.tiers;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;

/**
 * Reads what find prints, {@code SIZE BLOCKS SECONDS USER PATH} and a NUL for each file, and adds
 * it up. It holds one record at a time.
 */
final class FoundFiles extends OutputStream {
  /** find's unit of a file's space on the disk. */
  private static final int BLOCK = 512;

  private static final int FIELDS = 5;

  /** A path has at most 4,096 bytes on Linux, but a tree may be deeper. */
  private static final int LONGEST = 1 << 20;

  private final Usage usage;
  private byte[] record = new byte[1024];
  private int length;

  FoundFiles(Usage usage) {
    this.usage = usage;
  }

  @Override
  public void write(int b) throws IOException {
    if (b == 0) {
      add(new String(record, 0, length, StandardCharsets.UTF_8));
      length = 0;
      return;
    }
    if (length == LONGEST) {
      throw new IOException("a path has more than " + LONGEST + " bytes");
    }
    if (length == record.length) {
      record = Arrays.copyOf(record, 2 * length);
    }
    record[length++] = (byte) b;
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    for (int i = offset; i < offset + count; i++) {
      write(bytes[i]);
    }
  }

  private void add(String text) throws IOException {
    String[] fields = text.split(" ", FIELDS);
    if (fields.length < FIELDS) {
      throw new IOException("find printed '" + text + "'");
    }
    try {
      usage.add(
          fields[4],
          fields[3],
          Long.parseLong(fields[0]),
          Long.parseLong(fields[1]) * BLOCK,
          Instant.ofEpochSecond(Long.parseLong(fields[2])));
    } catch (NumberFormatException unreadable) {
      throw new IOException("find printed '" + text + "'", unreadable);
    }
  }
}
