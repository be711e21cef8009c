package dev.nexa.slurm.costs;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Strings that come again and again, made once and found by their bytes: an open hash table. */
final class Words {
  private @Nullable String[] words = new String[1 << 10];
  private byte[][] texts = new byte[words.length][];
  private int count;

  /** The string of these UTF-8 bytes. */
  String of(byte[] bytes, int from, int to) {
    for (int at = slot(bytes, from, to); ; at = (at + 1) & (words.length - 1)) {
      String word = words[at];
      if (word == null) {
        return add(at, bytes, from, to);
      }
      byte[] text = texts[at];
      if (Arrays.equals(text, 0, text.length, bytes, from, to)) {
        return word;
      }
    }
  }

  private int slot(byte[] bytes, int from, int to) {
    int hash = 0;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + bytes[i];
    }
    return (hash ^ (hash >>> 15)) & (words.length - 1);
  }

  private String add(int at, byte[] bytes, int from, int to) {
    String word = new String(bytes, from, to - from, StandardCharsets.UTF_8);
    words[at] = word;
    texts[at] = Arrays.copyOfRange(bytes, from, to);
    if (++count * 2 > words.length) {
      grow();
    }
    return word;
  }

  private void grow() {
    @Nullable String[] oldWords = words;
    byte[][] oldTexts = texts;
    words = new String[oldWords.length * 2];
    texts = new byte[words.length][];
    for (int i = 0; i < oldWords.length; i++) {
      if (oldWords[i] != null) {
        int at = slot(oldTexts[i], 0, oldTexts[i].length);
        while (words[at] != null) {
          at = (at + 1) & (words.length - 1);
        }
        words[at] = oldWords[i];
        texts[at] = oldTexts[i];
      }
    }
  }
}
