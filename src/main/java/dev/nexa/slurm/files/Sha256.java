package dev.nexa.slurm.files;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 as 64 lower-case hex digits. */
public final class Sha256 {
  /** One for all: from the sixteenth on, making one generates a class. */
  private static final MessageDigest DIGEST = sha256();

  private Sha256() {}

  /** Java's cryptography takes 7 ms to load: who has a thread to spare does it early. */
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

  public static String of(byte[] bytes) {
    synchronized (DIGEST) {
      return HexFormat.of().formatHex(DIGEST.digest(bytes));
    }
  }

  public static String of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }
}
