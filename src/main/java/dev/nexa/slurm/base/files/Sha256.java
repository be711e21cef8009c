package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Computes SHA-256 digests as 64 lower-case hex digits. */
public final class Sha256 {
  /** Shared: the JVM generates a class after 15 calls of {@code getInstance}. */
  private static final MessageDigest DIGEST = digest();

  private Sha256() {}

  /**
   * Loads Java's cryptography classes (about 7 ms), so that a later digest does not wait for them.
   */
  public static void load() {
    of("");
  }

  /** Returns the digest of the bytes. */
  public static String of(byte[] bytes) {
    synchronized (DIGEST) {
      return HexFormat.of().formatHex(DIGEST.digest(bytes));
    }
  }

  /**
   * Returns the digest of a file. Reads the file in parts.
   *
   * @throws IOException if the file cannot be read
   */
  public static String of(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return of(in);
    }
  }

  /** Reads a stream to its end, and returns the digest of its bytes. */
  public static String of(InputStream in) throws IOException {
    MessageDigest digest = digest();
    byte[] part = new byte[1 << 16];
    for (int read = in.read(part); read >= 0; read = in.read(part)) {
      digest.update(part, 0, read);
    }
    return hex(digest);
  }

  /** Returns a new SHA-256 for content that is not in memory as a whole. */
  public static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("Java guarantees SHA-256", impossible);
    }
  }

  /** Finishes a digest. */
  public static String hex(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Returns the digest of the text in UTF-8. */
  public static String of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }
}
