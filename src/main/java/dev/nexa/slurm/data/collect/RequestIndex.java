package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.files.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * Remembers for each request where its answer is. Holds no text: 24 bytes for each slot, and at
 * most two slots in three are used, so a million requests take 25 to 50 MB.
 *
 * <p>A request is known by 128 bits of its id's SHA-256.
 */
final class RequestIndex {
  /** The value of a request without an answer. */
  static final long NONE = -1;

  private final MessageDigest sha256 = Sha256.digest();
  private long[] high = new long[1 << 10];
  private long[] low = new long[1 << 10];
  private long[] values = new long[1 << 10];
  private int size;

  /** Adds a request without an answer. Returns false if its id is there already. */
  boolean add(String id) {
    if (size * 3L > high.length * 2L) {
      grow();
    }
    ByteBuffer hash = hash(id);
    long one = hash.getLong();
    long two = hash.getLong();
    int slot = slot(one, two);
    if (used(slot)) {
      return false;
    }
    put(slot, one, two, NONE);
    size++;
    return true;
  }

  /** Returns the request's slot, until the next {@link #add}; -1 if there is no such request. */
  int find(String id) {
    ByteBuffer hash = hash(id);
    int slot = slot(hash.getLong(), hash.getLong());
    return used(slot) ? slot : -1;
  }

  long value(int slot) {
    return values[slot];
  }

  void set(int slot, long value) {
    values[slot] = value;
  }

  int size() {
    return size;
  }

  private ByteBuffer hash(String id) {
    ByteBuffer hash = ByteBuffer.wrap(sha256.digest(id.getBytes(StandardCharsets.UTF_8)));
    if (hash.getLong(0) == 0 && hash.getLong(8) == 0) {
      // Both zero marks an unused slot.
      hash.putLong(8, 1);
    }
    return hash;
  }

  private boolean used(int slot) {
    return high[slot] != 0 || low[slot] != 0;
  }

  private int slot(long one, long two) {
    int mask = high.length - 1;
    int slot = (int) one & mask;
    while (used(slot) && (high[slot] != one || low[slot] != two)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void put(int slot, long one, long two, long value) {
    high[slot] = one;
    low[slot] = two;
    values[slot] = value;
  }

  private void grow() {
    long[] oldHigh = high;
    long[] oldLow = low;
    long[] oldValues = values;
    high = new long[oldHigh.length * 2];
    low = new long[high.length];
    values = new long[high.length];
    for (int i = 0; i < oldHigh.length; i++) {
      if (oldHigh[i] != 0 || oldLow[i] != 0) {
        put(slot(oldHigh[i], oldLow[i]), oldHigh[i], oldLow[i], oldValues[i]);
      }
    }
  }
}
