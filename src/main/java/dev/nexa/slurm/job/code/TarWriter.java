package dev.nexa.slurm.job.code;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.code.TarEntry.Kind;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;

/**
 * Writes a tar archive. Equal entries give equal bytes, because an archive has owner 0, no names of
 * users, and only the times that the caller gives.
 */
public final class TarWriter implements Closeable {
  /** How an entry is written that does not fit into one header. */
  public enum Format {
    /** GNU's, which GNU tar, bsdtar and BusyBox read. Holds whole seconds only. */
    GNU,
    /** POSIX's (pax). */
    PAX
  }

  /** The size of a header and of each part of the content. */
  public static final int BLOCK = 512;

  /** Where a link's target begins in a header. */
  public static final int TARGET = 157;

  /** The most bytes of a name, and of a link's target, in a header. */
  public static final int NAME_BYTES = 100;

  private static final int LARGEST_OCTAL_DIGITS = 11;

  /** The largest number of eleven octal digits. */
  private static final long LARGEST_OCTAL = (1L << 33) - 1;

  private final OutputStream out;
  private final Format format;
  private final byte[] part = new byte[1 << 18];

  /**
   * Begins an archive.
   *
   * @param out gets the archive; closed with it
   */
  public TarWriter(OutputStream out, Format format) {
    this.out = out;
    this.format = format;
  }

  /**
   * Writes an entry.
   *
   * @param content the bytes of a file; not read for folders and links
   * @throws IOException also if the content has another size than the entry
   */
  public void write(TarEntry entry, InputStream content) throws IOException {
    write(entry, to -> copy(entry, content));
  }

  /**
   * Writes an entry.
   *
   * @param content writes as many bytes as the entry says; not called for folders and links
   */
  public void write(TarEntry entry, DurableFiles.Content content) throws IOException {
    if (format == Format.GNU) {
      gnu(entry);
    } else {
      pax(entry);
    }
    if (entry.kind() == Kind.FILE) {
      content.writeTo(out);
      out.write(new byte[(int) (-entry.bytes() & (BLOCK - 1))]);
    }
  }

  private void copy(TarEntry entry, InputStream content) throws IOException {
    long left = entry.bytes();
    while (left > 0) {
      int read = content.read(part, 0, (int) Math.min(part.length, left));
      if (read < 0) {
        throw new IOException(entry.path() + " changed while it was read");
      }
      out.write(part, 0, read);
      left -= read;
    }
    if (content.read() >= 0) {
      throw new IOException(entry.path() + " changed while it was read");
    }
  }

  private void gnu(TarEntry entry) throws IOException {
    byte[] name = entry.path().getBytes(StandardCharsets.UTF_8);
    byte[] target = entry.target().getBytes(StandardCharsets.UTF_8);
    long time = entry.modified().getEpochSecond();
    longText(target, 'K', time);
    longText(name, 'L', time);
    out.write(header("ustar  ", name, target, type(entry), entry.bytes(), entry.mode(), time));
  }

  /** Writes a text that does not fit into its field as an entry of its own. */
  private void longText(byte[] text, char type, long time) throws IOException {
    if (text.length > NAME_BYTES) {
      byte[] name = ascii("././@LongLink");
      out.write(header("ustar  ", name, new byte[0], type, text.length + 1L, 0644, time));
      out.write(Arrays.copyOf(text, (text.length / BLOCK + 1) * BLOCK));
    }
  }

  private void pax(TarEntry entry) throws IOException {
    Instant modified = entry.modified();
    StringBuilder pax = new StringBuilder();
    if (isLong(entry.path())) {
      pax.append(record("path", entry.path()));
    }
    if (isLong(entry.target())) {
      pax.append(record("linkpath", entry.target()));
    }
    if (entry.bytes() > LARGEST_OCTAL) {
      pax.append(record("size", "" + entry.bytes()));
    }
    if (modified.getNano() != 0 || modified.getEpochSecond() < 0) {
      BigDecimal seconds = BigDecimal.valueOf(modified.getEpochSecond());
      BigDecimal time = seconds.add(BigDecimal.valueOf(modified.getNano(), 9));
      pax.append(record("mtime", time.toPlainString()));
    }
    long seconds = Math.max(0, modified.getEpochSecond());
    if (pax.length() > 0) {
      byte[] more = pax.toString().getBytes(StandardCharsets.UTF_8);
      out.write(posix("pax", "", 'x', more.length, 0444, seconds));
      out.write(Arrays.copyOf(more, (more.length + BLOCK - 1) / BLOCK * BLOCK));
    }
    long size = entry.bytes() > LARGEST_OCTAL ? 0 : entry.bytes();
    out.write(posix(entry.path(), entry.target(), type(entry), size, entry.mode(), seconds));
  }

  private static byte[] posix(
      String name, String target, char type, long size, int mode, long time) {
    byte[] nameBytes = ascii(isAscii(name) ? name : "file");
    byte[] targetBytes = ascii(isAscii(target) ? target : "");
    return header("ustar\00000", nameBytes, targetBytes, type, size, mode, time);
  }

  private static boolean isLong(String name) {
    return !isAscii(name) || name.length() > NAME_BYTES;
  }

  private static boolean isAscii(String name) {
    return StandardCharsets.US_ASCII.newEncoder().canEncode(name);
  }

  /** Returns a record of a pax header, which begins with its own length. */
  private static String record(String key, String value) {
    String rest = " " + key + "=" + value + "\n";
    int bytes = rest.getBytes(StandardCharsets.UTF_8).length;
    int length = bytes + 1;
    while (length != bytes + Integer.toString(length).length()) {
      length = bytes + Integer.toString(length).length();
    }
    return length + rest;
  }

  private static char type(TarEntry entry) {
    return switch (entry.kind()) {
      case FILE -> '0';
      case LINK -> '2';
      case FOLDER -> '5';
      case OTHER -> throw new IllegalArgumentException("only files, folders and links are written");
    };
  }

  /**
   * Returns a header. A longer name or target is cut.
   *
   * @param magic the format
   * @param time seconds since 1970
   */
  private static byte[] header(
      String magic, byte[] name, byte[] target, char type, long size, int mode, long time) {
    byte[] block = new byte[BLOCK];
    System.arraycopy(name, 0, block, 0, Math.min(name.length, NAME_BYTES));
    octal(block, 100, 7, mode);
    octal(block, 108, 7, 0);
    octal(block, 116, 7, 0);
    size(block, size);
    octal(block, 136, LARGEST_OCTAL_DIGITS, time);
    block[156] = (byte) type;
    System.arraycopy(target, 0, block, TARGET, Math.min(target.length, NAME_BYTES));
    text(block, 257, magic);
    octal(block, 148, 6, sum(block));
    block[155] = ' ';
    return block;
  }

  /** Returns the sum of a header's bytes, with spaces in place of the sum. */
  public static int sum(byte[] block) {
    int sum = 0;
    for (int i = 0; i < BLOCK; i++) {
      sum += i >= 148 && i < 156 ? ' ' : block[i] & 0xff;
    }
    return sum;
  }

  /** Writes the size: eleven octal digits, or binary from 8 GiB on. */
  private static void size(byte[] block, long size) {
    if (size <= LARGEST_OCTAL) {
      octal(block, 124, LARGEST_OCTAL_DIGITS, size);
      return;
    }
    block[124] = (byte) 0x80;
    for (int i = 0; i < 8; i++) {
      block[135 - i] = (byte) (size >>> (8 * i));
    }
  }

  private static void octal(byte[] block, int at, int digits, long value) {
    String text = Long.toOctalString(value);
    text(block, at, "0".repeat(digits - text.length()) + text);
  }

  private static void text(byte[] block, int at, String text) {
    byte[] bytes = ascii(text);
    System.arraycopy(bytes, 0, block, at, bytes.length);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Ends the archive. An archive whose writer was not closed counts as cut short. */
  @Override
  public void close() throws IOException {
    try (out) {
      out.write(new byte[2 * BLOCK]);
    }
  }
}
