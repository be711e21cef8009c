package dev.nexa.slurm.job.code;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.CRC32;

/**
 * Writes a gzip file whose bytes depend only on the content: no name, no time, and blocks that are
 * stored without compression (RFC 1951, 3.2.4). Compressed bytes would differ between versions of
 * zlib.
 */
final class StoredGzip extends FilterOutputStream {
  private static final int BLOCK = 65_535;

  /** Magic, deflate, no flags, no time, no hint, unknown system (RFC 1952, 2.3). */
  private static final byte[] HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};

  private final byte[] block = new byte[BLOCK];
  private final CRC32 crc = new CRC32();
  private int used;
  private long size;

  StoredGzip(OutputStream out) throws IOException {
    super(out);
    out.write(HEADER);
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    crc.update(bytes, offset, length);
    size += length;
    int from = offset;
    int left = length;
    while (left > 0) {
      if (used == BLOCK) {
        flushBlock(false);
      }
      int part = Math.min(left, BLOCK - used);
      System.arraycopy(bytes, from, block, used, part);
      used += part;
      from += part;
      left -= part;
    }
  }

  /** Writes the last block and the trailer. The stream below stays open. */
  @Override
  public void close() throws IOException {
    flushBlock(true);
    writeLittle(crc.getValue(), 4);
    writeLittle(size, 4);
  }

  private void flushBlock(boolean last) throws IOException {
    out.write(last ? 1 : 0);
    writeLittle(used, 2);
    writeLittle(~used, 2);
    out.write(block, 0, used);
    used = 0;
  }

  private void writeLittle(long value, int bytes) throws IOException {
    for (int i = 0; i < bytes; i++) {
      out.write((int) (value >>> (8 * i)));
    }
  }
}
