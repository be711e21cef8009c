package dev.nexa.slurm.storage.sync;

import java.util.Comparator;

/** The order of keys in an S3 listing: by the bytes of their UTF-8. */
final class KeyOrder implements Comparator<String> {
  static final KeyOrder KEYS = new KeyOrder();

  private KeyOrder() {}

  @Override
  public int compare(String one, String other) {
    int common = Math.min(one.length(), other.length());
    for (int i = 0; i < common; i++) {
      char a = one.charAt(i);
      char b = other.charAt(i);
      if (a != b) {
        // A pair of surrogates is a code point above all single chars.
        boolean pairs = Character.isSurrogate(a) != Character.isSurrogate(b);
        return pairs ? (Character.isSurrogate(a) ? 1 : -1) : Character.compare(a, b);
      }
    }
    return Integer.compare(one.length(), other.length());
  }
}
