package dev.nexa.slurm.storage.bundle;

import dev.nexa.slurm.job.code.TarHeader;
import dev.nexa.slurm.storage.bundle.TarEntry.Kind;
import io.airlift.compress.zstd.ZstdOutputStream;
import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;

/**
 * Writes a tar archive in POSIX's format (pax), compressed with Zstandard. The same entries give
 * the same bytes: owner 0, no names of users, and only the times that the caller gives.
 */
public final class TarWriter implements Closeable {
  private static final int BLOCK = TarHeader.BLOCK;

  /** The largest number of eleven octal digits. */
  private static final long LARGEST_OCTAL = (1L << 33) - 1;

  private final ZstdOutputStream out;
  private final byte[] part = new byte[1 << 18];

  /**
   * Begins an archive.
   *
   * @param out gets the compressed bytes; stays open
   */
  public TarWriter(OutputStream out) throws IOException {
    this.out = new ZstdOutputStream(unclosed(out));
  }

  private static OutputStream unclosed(OutputStream out) {
    return new FilterOutputStream(out) {
      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
      }

      @Override
      public void close() throws IOException {
        flush();
      }
    };
  }

  /**
   * Writes an entry.
   *
   * @param content the bytes of a file; not read for folders and links
   * @throws IOException also if the content has another size than the entry
   */
  public void write(TarEntry entry, InputStream content) throws IOException {
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
    boolean plainTime = modified.getNano() == 0 && modified.getEpochSecond() >= 0;
    if (!plainTime) {
      pax.append(record("mtime", TarTime.text(modified)));
    }
    long seconds = Math.max(0, modified.getEpochSecond());
    if (pax.length() > 0) {
      byte[] more = pax.toString().getBytes(StandardCharsets.UTF_8);
      out.write(header("pax", "", more.length, 'x', 0444, seconds));
      out.write(Arrays.copyOf(more, (more.length + BLOCK - 1) / BLOCK * BLOCK));
    }
    long size = entry.bytes() > LARGEST_OCTAL ? 0 : entry.bytes();
    out.write(
        header(entry.path(), entry.target(), size, type(entry.kind()), entry.mode(), seconds));
    if (entry.kind() == Kind.FILE) {
      content(entry, content);
    }
  }

  private void content(TarEntry entry, InputStream content) throws IOException {
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
    out.write(new byte[(int) (-entry.bytes() & (BLOCK - 1))]);
  }

  private static char type(Kind kind) {
    return switch (kind) {
      case FILE -> '0';
      case LINK -> '2';
      case FOLDER -> '5';
      case OTHER -> throw new IllegalArgumentException("only files, folders and links are written");
    };
  }

  private static boolean isLong(String name) {
    return !isAscii(name) || name.length() > TarHeader.NAME_BYTES;
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

  private static byte[] header(
      String name, String target, long size, char type, int mode, long time) {
    byte[] nameBytes = ascii(isAscii(name) ? name : "file");
    byte[] targetBytes = ascii(isAscii(target) ? target : "");
    return TarHeader.block("ustar\00000", nameBytes, targetBytes, type, size, mode, time);
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
