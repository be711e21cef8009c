package dev.nexa.slurm.job.code;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Makes the headers of a tar archive in GNU's format, which GNU tar, bsdtar and BusyBox read. A
 * header holds no owner, no group and a fixed time. POSIX's format has the same block under another
 * magic. Pure.
 */
public final class TarHeader {
  /** The size of a header and of each part of the content. */
  public static final int BLOCK = 512;

  /**
   * 1980-01-01T00:00:00Z. GNU tar warns about times near 1970, and zip files cannot hold earlier
   * times.
   */
  private static final long TIME = 315_532_800;

  /** The most bytes of a name, and of a link's target, in a block. */
  public static final int NAME_BYTES = 100;

  /** Where a link's target begins. */
  public static final int TARGET = 157;

  private static final String GNU = "ustar  ";
  private static final int LARGEST_OCTAL_DIGITS = 11;

  private TarHeader() {}

  /** Returns the header of a regular file; its content follows, padded to whole blocks. */
  public static byte[] file(String name, long size, boolean executable) {
    return of(name, "", '0', size, executable ? 0755 : 0644);
  }

  /** Returns the header of a symbolic link. */
  static byte[] link(String name, String target) {
    return of(name, target, '2', 0, 0777);
  }

  private static byte[] of(String name, String target, char type, long size, int mode) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
    byte[] targetBytes = target.getBytes(StandardCharsets.UTF_8);
    longText(all, targetBytes, 'K');
    longText(all, nameBytes, 'L');
    all.writeBytes(block(GNU, nameBytes, targetBytes, type, size, mode, TIME));
    return all.toByteArray();
  }

  /** Adds a text that does not fit into its field as an entry of its own. */
  private static void longText(ByteArrayOutputStream all, byte[] text, char type) {
    if (text.length <= NAME_BYTES) {
      return;
    }
    byte[] name = "././@LongLink".getBytes(StandardCharsets.US_ASCII);
    all.writeBytes(block(GNU, name, new byte[0], type, text.length + 1L, 0644, TIME));
    all.writeBytes(Arrays.copyOf(text, (text.length / BLOCK + 1) * BLOCK));
  }

  /**
   * Returns one block. A longer name or target is cut.
   *
   * @param magic the format
   * @param time seconds since 1970
   */
  public static byte[] block(
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

  /** Returns the sum of a block's bytes, with spaces in place of the sum. */
  public static int sum(byte[] block) {
    int sum = 0;
    for (int i = 0; i < BLOCK; i++) {
      sum += i >= 148 && i < 156 ? ' ' : block[i] & 0xff;
    }
    return sum;
  }

  /** Writes the size: eleven octal digits, or binary from 8 GiB on. */
  private static void size(byte[] block, long size) {
    if (size < 1L << 33) {
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
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, block, at, bytes.length);
  }
}
