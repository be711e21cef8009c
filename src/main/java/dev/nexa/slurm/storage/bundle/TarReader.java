package dev.nexa.slurm.storage.bundle;

import dev.nexa.slurm.job.code.TarEntry;
import dev.nexa.slurm.job.code.TarEntry.Kind;
import dev.nexa.slurm.job.code.TarWriter;
import io.airlift.compress.zstd.ZstdInputStream;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Reads a tar archive that is compressed with Zstandard, entry by entry, as {@link TarWriter}
 * writes it. Each number is checked, because the archive may come from anybody.
 */
public final class TarReader implements Closeable {
  private static final int BLOCK = TarWriter.BLOCK;
  private static final int LONGEST_PAX = 1 << 20;

  private final InputStream in;

  /** The bytes of the entry that are not read yet, and the bytes that fill its last block. */
  private long left;

  private long padding;

  /**
   * Begins to read.
   *
   * @param in the compressed bytes; should be buffered
   */
  public TarReader(InputStream in) {
    this.in = new ZstdInputStream(in);
  }

  /**
   * Returns the next entry; empty at the end of the archive. Skips the bytes of the entry before
   * that were not read.
   *
   * @throws IOException also if the archive is cut short or damaged; the message says how
   */
  public Optional<TarEntry> next() throws IOException {
    in.skipNBytes(left + padding);
    left = 0;
    padding = 0;
    String path = "";
    String target = "";
    long longSize = -1;
    Optional<Instant> modified = Optional.empty();
    while (true) {
      byte[] block = in.readNBytes(BLOCK);
      if (block.length < BLOCK) {
        throw new IOException("it is cut short");
      }
      if (Arrays.equals(block, new byte[BLOCK])) {
        return Optional.empty();
      }
      if (number(block, 148, 8) != TarWriter.sum(block)) {
        throw new IOException("a header has another checksum");
      }
      long size = longSize >= 0 ? longSize : number(block, 124, 12);
      if (block[156] != 'x') {
        left = size;
        padding = -size & (BLOCK - 1);
        return Optional.of(
            new TarEntry(
                path.isEmpty() ? text(block, 0) : path,
                kind(block[156]),
                size,
                (int) number(block, 100, 8),
                modified.orElse(Instant.ofEpochSecond(number(block, 136, 12))),
                target.isEmpty() ? text(block, TarWriter.TARGET) : target));
      }
      if (size > LONGEST_PAX) {
        throw new IOException("a header is too long");
      }
      byte[] header = in.readNBytes((int) size);
      in.skipNBytes(-size & (BLOCK - 1));
      for (Map.Entry<String, String> record : records(header).entrySet()) {
        String value = record.getValue();
        switch (record.getKey()) {
          case "path" -> path = value;
          case "linkpath" -> target = value;
          case "size" -> longSize = size(value);
          case "mtime" -> modified = Optional.of(time(value));
          default -> {
            // Another program's keys do not matter here.
          }
        }
      }
    }
  }

  /** Reads the records of a pax header. Each begins with its own length: a name can hold "\n". */
  private static Map<String, String> records(byte[] header) throws IOException {
    Map<String, String> records = new LinkedHashMap<>();
    int at = 0;
    while (at < header.length) {
      int space = at;
      while (space < header.length && header[space] != ' ') {
        space++;
      }
      String length = new String(header, at, space - at, StandardCharsets.US_ASCII);
      int end = length.matches("[1-9]\\d{0,7}") ? at + Integer.parseInt(length) : -1;
      int equals = space;
      while (equals < end && equals < header.length && header[equals] != '=') {
        equals++;
      }
      if (end > header.length || equals >= end || header[end - 1] != '\n') {
        throw new IOException("a header's records are damaged");
      }
      records.put(
          new String(header, space + 1, equals - space - 1, StandardCharsets.UTF_8),
          new String(header, equals + 1, end - equals - 2, StandardCharsets.UTF_8));
      at = end;
    }
    return records;
  }

  /** Returns the bytes of the entry that {@link #next} returned. Closing it does nothing. */
  public InputStream data() {
    return new FilterInputStream(in) {
      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        if (left == 0) {
          return -1;
        }
        int read = in.read(bytes, offset, (int) Math.min(length, left));
        if (read < 0) {
          throw new IOException("it is cut short");
        }
        left -= read;
        return read;
      }

      @Override
      public void close() {
        // The archive goes on behind this file.
      }
    };
  }

  private static Kind kind(byte type) {
    return switch (type) {
      case 0, '0' -> Kind.FILE;
      case '2' -> Kind.LINK;
      case '5' -> Kind.FOLDER;
      default -> Kind.OTHER;
    };
  }

  private static String text(byte[] block, int at) {
    return new String(block, at, TarWriter.NAME_BYTES, StandardCharsets.UTF_8).split("\0", 2)[0];
  }

  private static long size(String text) throws IOException {
    if (!text.matches("\\d{1,18}")) {
      throw new IOException("a header has no number where one belongs");
    }
    return Long.parseLong(text);
  }

  /** A time as pax writes it: seconds since 1970 with a fraction. */
  private static Instant time(String text) throws IOException {
    try {
      BigDecimal seconds = new BigDecimal(text.length() > 40 ? "" : text);
      long nanos = seconds.remainder(BigDecimal.ONE).movePointRight(9).longValue();
      return Instant.ofEpochSecond(seconds.longValue(), nanos);
    } catch (NumberFormatException | ArithmeticException | DateTimeException broken) {
      throw new IOException("a header has no time where one belongs", broken);
    }
  }

  private static long number(byte[] block, int at, int length) throws IOException {
    String digits = new String(block, at, length, StandardCharsets.US_ASCII).replace('\0', ' ');
    if (!digits.strip().matches("[0-7]+")) {
      throw new IOException("a header has no number where one belongs");
    }
    return Long.parseLong(digits.strip(), 8);
  }

  /** Closes the archive's stream. */
  @Override
  public void close() throws IOException {
    in.close();
  }
}
