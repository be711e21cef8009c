package dev.nexa.slurm.base.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A cache of strings that repeat often, looked up by their UTF-8 bytes. It avoids decoding the same
 * text again.
 *
 * <p>The cache has a fixed number of slots. A text replaces another text in its slot, so texts that
 * never repeat use no additional memory. Not thread-safe.
 */
public final class Utf8Pool {
  private final byte[][] keys;
  private final String[] texts;
  private final int mask;
  private byte[] lastKey = new byte[0];
  private String last = "";

  /**
   * Creates a cache.
   *
   * @param places the number of slots: a power of two, several times the number of texts expected
   *     to repeat
   */
  public Utf8Pool(int places) {
    if (Integer.bitCount(places) != 1) {
      throw new IllegalArgumentException(places + " is no power of two");
    }
    keys = new byte[places][];
    texts = new String[places];
    mask = places - 1;
  }

  /**
   * Returns the string that the bytes from {@code from} (inclusive) to {@code to} (exclusive)
   * encode.
   */
  public String of(byte[] bytes, int from, int to) {
    if (Arrays.equals(lastKey, 0, lastKey.length, bytes, from, to)) {
      return last;
    }
    int hash = 0;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + bytes[i];
    }
    int place = (hash ^ (hash >>> 16)) & mask;
    byte[] key = keys[place];
    if (key == null || !Arrays.equals(key, 0, key.length, bytes, from, to)) {
      keys[place] = Arrays.copyOfRange(bytes, from, to);
      texts[place] = new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }
    lastKey = keys[place];
    last = texts[place];
    return last;
  }
}
