package dev.nexa.slurm.usage;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Remembers what a text was read as: users, nodes and resource lists repeat in most rows. It begins
 * with strings, which dumps have anyway; who only has bytes takes {@link
 * dev.nexa.slurm.files.RepeatedText}.
 */
final class Interned<T> {
  private static final int MOST = 20_000;

  private final Map<String, T> known = new HashMap<>();
  private final Function<String, T> read;

  Interned(Function<String, T> read) {
    this.read = read;
  }

  T of(String text) {
    T value = known.get(text);
    if (value == null) {
      value = read.apply(text);
      if (known.size() < MOST) {
        known.put(text, value);
      }
    }
    return value;
  }
}
