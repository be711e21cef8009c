package dev.nexa.slurm.files;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Strings of UTF-8 bytes that come again and again, each made once: found by their bytes, before
 * there is any string. A fixed number of places: two texts that want the same one take turns, so
 * that texts which never repeat fill no memory.
 */
public final class RepeatedText {
  private final byte[][] keys;
  private final String[] texts;
  private final int mask;
  private byte[] lastKey = new byte[0];
  private String last = "";

  /**
   * With so many places.
   *
   * @param places a power of two, several times as many as texts that are expected to repeat
   */
  public RepeatedText(int places) {
    if (Integer.bitCount(places) != 1) {
      throw new IllegalArgumentException(places + " is no power of two");
    }
    keys = new byte[places][];
    texts = new String[places];
    mask = places - 1;
  }

  /** The string of these bytes. */
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
