package dev.nexa.slurm.cluster.sacct;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Caches the value that a text is read as, because users, nodes and resource lists repeat in most
 * rows. It keeps the first 20 000 texts. Readers of bytes use {@link
 * dev.nexa.slurm.base.json.Utf8Pool} instead.
 */
final class StringPool<T> {
  private static final int MOST = 20_000;

  private final Map<String, T> known = new HashMap<>();
  private final Function<String, T> read;

  StringPool(Function<String, T> read) {
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
