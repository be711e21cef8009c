package dev.nexa.slurm.base.files;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Computes SHA-256 digests as 64 lower-case hex digits. */
public final class Sha256 {
  /** Shared: the JVM generates a class after 15 calls of {@code getInstance}. */
  private static final MessageDigest DIGEST = sha256();

  private Sha256() {}

  /**
   * Loads Java's cryptography classes (about 7 ms), so that a later digest does not wait for them.
   */
  public static void load() {
    of("");
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("Java guarantees SHA-256", impossible);
    }
  }

  /** Returns the digest of the bytes. */
  public static String of(byte[] bytes) {
    synchronized (DIGEST) {
      return HexFormat.of().formatHex(DIGEST.digest(bytes));
    }
  }

  /** Returns the digest of the text in UTF-8. */
  public static String of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }
}
