package dev.nexa.slurm.storage.sync;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The digest that every S3 store checks and most use as a version. */
final class Md5 {
  private Md5() {}

  /** Returns a new digest. */
  static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("Java guarantees MD5", impossible);
    }
  }
}
