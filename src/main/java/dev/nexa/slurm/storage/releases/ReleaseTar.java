package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import io.airlift.compress.zstd.ZstdInputStream;
import io.airlift.compress.zstd.ZstdOutputStream;
import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * A release as one archive: tar in POSIX's format (pax), compressed with Zstandard. Two archives of
 * the same release are the same bytes: files in order, mode 0444, owner 0, the time of the release.
 */
public final class ReleaseTar {
  private static final int BLOCK = 512;
  private static final int NAME_BYTES = 100;

  /** The largest number of eleven octal digits. */
  private static final long LARGEST_OCTAL = (1L << 33) - 1;

  private static final int LONGEST_PAX = 1 << 20;
  private static final String USUAL = "rw-r--r--";

  private ReleaseTar() {}

  /**
   * Writes an archive of a release. Each file's path begins with the release's name.
   *
   * @param files writes it: under a temporary name until it is whole
   * @return false if the file exists
   */
  public static boolean write(ReleaseFolder release, Path archive, DurableFiles files) {
    ReleaseFile document = release.document();
    TreeMap<String, String> digests = new TreeMap<>(ReleaseContent.ORDER);
    document.files().forEach(file -> digests.put(file.path(), file.sha256()));
    digests.put(ReleaseFolder.DOCUMENT, release.digest());
    ReleaseContent.signed(release)
        .signatures()
        .forEach(
            (name, bytes) -> digests.put(ReleaseFolder.SIGNATURES + "/" + name, Sha256.of(bytes)));
    long time = document.origin().ended().getEpochSecond();
    return files.claim(
        archive,
        out -> {
          try (ZstdOutputStream zstd = new ZstdOutputStream(unclosed(out))) {
            for (Map.Entry<String, String> file : digests.entrySet()) {
              Path from = release.path().resolve(file.getKey());
              String digest = entry(zstd, release.name() + "/" + file.getKey(), from, time);
              requireSame(from, digest, file.getValue());
            }
            zstd.write(new byte[2 * BLOCK]);
          }
        },
        USUAL);
  }

  private static void requireSame(Path file, String digest, String listed) {
    if (!digest.equals(listed)) {
      throw new NexaException(
          ErrorCode.RELEASE_DAMAGED,
          file + " is not the file that was packaged: it has another SHA-256",
          Advice.step("package the run again under another name: --name NAME"));
    }
  }

  private static OutputStream unclosed(OutputStream out) {
    return new java.io.FilterOutputStream(out) {
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

  /** Writes one file, and returns its SHA-256. */
  private static String entry(OutputStream out, String name, Path file, long time)
      throws IOException {
    long size = Files.size(file);
    StringBuilder pax = new StringBuilder();
    if (name.getBytes(StandardCharsets.UTF_8).length > NAME_BYTES || !isAscii(name)) {
      pax.append(record("path", name));
    }
    if (size > LARGEST_OCTAL) {
      pax.append(record("size", "" + size));
    }
    if (pax.length() > 0) {
      byte[] more = pax.toString().getBytes(StandardCharsets.UTF_8);
      out.write(header("pax", more.length, 'x', time));
      out.write(Arrays.copyOf(more, padded(more.length)));
    }
    out.write(header(isAscii(name) ? name : "file", size > LARGEST_OCTAL ? 0 : size, '0', time));
    long written = 0;
    MessageDigest digest = Sha256.digest();
    byte[] part = new byte[1 << 18];
    try (InputStream in = Files.newInputStream(file)) {
      for (int read = in.read(part); read >= 0; read = in.read(part)) {
        out.write(part, 0, read);
        digest.update(part, 0, read);
        written += read;
      }
    }
    if (written != size) {
      throw new IOException(file + " changed while it was read");
    }
    out.write(new byte[(int) (-size & (BLOCK - 1))]);
    return Sha256.hex(digest);
  }

  private static boolean isAscii(String name) {
    return StandardCharsets.US_ASCII.newEncoder().canEncode(name);
  }

  private static int padded(int length) {
    return (length + BLOCK - 1) / BLOCK * BLOCK;
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

  private static byte[] header(String name, long size, char type, long time) {
    byte[] block = new byte[BLOCK];
    byte[] nameBytes = name.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(nameBytes, 0, block, 0, Math.min(nameBytes.length, NAME_BYTES));
    octal(block, 100, 7, 0444);
    octal(block, 108, 7, 0);
    octal(block, 116, 7, 0);
    octal(block, 124, 11, size);
    octal(block, 136, 11, time);
    Arrays.fill(block, 148, 156, (byte) ' ');
    block[156] = (byte) type;
    byte[] magic = "ustar\00000".getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(magic, 0, block, 257, magic.length);
    octal(block, 148, 6, sum(block));
    block[154] = 0;
    return block;
  }

  private static int sum(byte[] block) {
    int sum = 0;
    for (int i = 0; i < BLOCK; i++) {
      sum += i >= 148 && i < 156 ? ' ' : block[i] & 0xff;
    }
    return sum;
  }

  private static void octal(byte[] block, int at, int digits, long value) {
    String text = Long.toOctalString(value);
    byte[] bytes = ("0".repeat(digits - text.length()) + text).getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, block, at, bytes.length);
  }

  /**
   * Reads all files of an archive, part by part.
   *
   * @throws NexaException with {@link ErrorCode#RELEASE_DAMAGED} if it is no whole archive of a
   *     release
   */
  public static ReleaseContent read(Path archive) {
    ReleaseContent content = new ReleaseContent(archive.toString());
    try (InputStream in =
        new ZstdInputStream(new BufferedInputStream(Files.newInputStream(archive), 1 << 18))) {
      String folder = "";
      String path = "";
      long longSize = -1;
      for (byte[] block = in.readNBytes(BLOCK); ; block = in.readNBytes(BLOCK)) {
        if (block.length < BLOCK) {
          throw new IOException("it is cut short");
        }
        if (isZero(block)) {
          break;
        }
        if (number(block, 148, 8) != sum(block)) {
          throw new IOException("a header has another checksum");
        }
        long size = longSize >= 0 ? longSize : number(block, 124, 12);
        char type = (char) block[156];
        if (type == 'x') {
          if (size > LONGEST_PAX) {
            throw new IOException("a header is too long");
          }
          for (String line : new String(data(in, size), StandardCharsets.UTF_8).split("\n", -1)) {
            int equals = line.indexOf('=');
            String key = equals < 0 ? "" : line.substring(line.indexOf(' ') + 1, equals);
            path = key.equals("path") ? line.substring(equals + 1) : path;
            longSize = key.equals("size") ? Long.parseLong(line.substring(equals + 1)) : longSize;
          }
          continue;
        }
        String name = path.isEmpty() ? text(block) : path;
        path = "";
        longSize = -1;
        int slash = name.indexOf('/');
        String first = slash < 0 ? name : name.substring(0, slash);
        folder = folder.isEmpty() ? first : folder;
        String below = slash < 0 ? "" : name.substring(slash + 1);
        if (!first.equals(folder)) {
          content.addStrange(name, "outside the folder " + folder);
        } else if (type == '5') {
          if (!below.isEmpty()) {
            content.addFolder(below.replaceAll("/+$", ""));
          }
        } else if (type != '0' && type != 0) {
          content.addStrange(below, "no file");
        } else {
          Bounded bounded = new Bounded(in, size);
          content.add(below, bounded);
          bounded.finish();
          in.skipNBytes(-size & (BLOCK - 1));
          continue;
        }
        in.skipNBytes(size + (-size & (BLOCK - 1)));
      }
    } catch (IOException | RuntimeException broken) {
      if (broken instanceof NexaException known) {
        throw known;
      }
      throw new NexaException(
          ErrorCode.RELEASE_DAMAGED,
          archive + " is not a whole archive of a release: " + broken.getMessage(),
          broken,
          Advice.step("make it again: nexa-slurm release package RUN --tar FILE.tar.zst"));
    }
    return content.requireDocument();
  }

  private static byte[] data(InputStream in, long size) throws IOException {
    byte[] data = in.readNBytes((int) size);
    in.skipNBytes(-size & (BLOCK - 1));
    return data;
  }

  private static boolean isZero(byte[] block) {
    for (byte b : block) {
      if (b != 0) {
        return false;
      }
    }
    return true;
  }

  private static String text(byte[] block) {
    int end = 0;
    while (end < NAME_BYTES && block[end] != 0) {
      end++;
    }
    return new String(block, 0, end, StandardCharsets.UTF_8);
  }

  private static long number(byte[] block, int at, int length) throws IOException {
    String digits = new String(block, at, length, StandardCharsets.US_ASCII).replace('\0', ' ');
    try {
      return Long.parseLong(digits.strip(), 8);
    } catch (NumberFormatException broken) {
      throw new IOException("a header has no number where one belongs", broken);
    }
  }

  /** The bytes of one file of the archive. */
  private static final class Bounded extends FilterInputStream {
    private long left;

    Bounded(InputStream in, long size) {
      super(in);
      this.left = size;
    }

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

    void finish() throws IOException {
      in.skipNBytes(left);
      left = 0;
    }

    @Override
    public void close() {
      // The archive goes on behind this file.
    }
  }
}
