package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;

/**
 * The SHA-256 and the MD5 of all bytes. A sync compares the SHA-256. Every store checks the MD5,
 * and most stores use it as an object's version.
 */
final class Digests {
  private static final int BUFFER = 1 << 17;

  private final MessageDigest sha256 = Sha256.digest();
  private final MessageDigest md5 = md5();
  private boolean md5Wanted = true;

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("Java guarantees MD5", impossible);
    }
  }

  /** Computes no MD5 from now on. Call it if the MD5 is not needed. */
  void withoutMd5() {
    md5Wanted = false;
  }

  void update(byte[] buffer, int offset, int length) {
    sha256.update(buffer, offset, length);
    if (md5Wanted) {
      md5.update(buffer, offset, length);
    }
  }

  /**
   * Reads a stream.
   *
   * @param most how many bytes are read at most
   * @return how many bytes came: fewer if the stream ended
   */
  long read(InputStream in, long most) throws IOException {
    byte[] buffer = new byte[(int) Math.max(1, Math.min(BUFFER, most))];
    long total = 0;
    while (total < most) {
      int read = in.read(buffer, 0, (int) Math.min(buffer.length, most - total));
      if (read < 0) {
        break;
      }
      update(buffer, 0, read);
      total += read;
    }
    return total;
  }

  /** Returns the SHA-256 in hex, and begins again. */
  String sha256() {
    return Sha256.hex(sha256);
  }

  /** Returns the MD5 in hex, and begins again. */
  String md5Hex() {
    return HexFormat.of().formatHex(md5.digest());
  }

  /** Returns the MD5 in Base64, as a request carries it, and begins again. */
  String md5Base64() {
    return Base64.getEncoder().encodeToString(md5.digest());
  }
}
