package dev.nexa.slurm.scheduler.slurm;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The texts of one column, each made once: a million rows name few users, partitions and TRES. Kept
 * by the bytes' hash; where two share a slot the newer one stays.
 */
final class RepeatedText {
  private static final int SLOTS = 256;

  private final byte[][] keys = new byte[SLOTS][];
  private final String[] texts = new String[SLOTS];
  private byte[] lastKey = new byte[0];
  private String last = "";

  String of(byte[] bytes, int from, int to) {
    if (Arrays.equals(lastKey, 0, lastKey.length, bytes, from, to)) {
      return last;
    }
    int hash = 0;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + bytes[i];
    }
    int slot = (hash ^ (hash >>> 16)) & (SLOTS - 1);
    byte[] key = keys[slot];
    if (key == null || !Arrays.equals(key, 0, key.length, bytes, from, to)) {
      keys[slot] = Arrays.copyOfRange(bytes, from, to);
      texts[slot] = new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }
    lastKey = keys[slot];
    last = texts[slot];
    return last;
  }
}
