package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.files.Sha256;
import java.util.Arrays;

/**
 * Remembers the place of each request's answer, by the request's number in the task. Holds no text:
 * each request takes about 40 bytes.
 *
 * <p>A request is known by 128 bits of its key. The first request with a body has the body's digest
 * as its key. Each further request with an equal body has a key of its own, so that several samples
 * of one prompt stay several answers.
 */
final class RequestTable {
  /** The place of a request without an answer. */
  static final long NONE = -1;

  private long[] high = new long[1 << 10];
  private long[] low = new long[1 << 10];
  private long[] places = new long[1 << 10];

  /** For the first request with a body: how many requests have an equal body. */
  private int[] copies = new int[1 << 10];

  /** Request numbers plus 1, by their keys; 0 marks an unused slot. */
  private int[] slots = new int[1 << 12];

  private int size;

  /**
   * Adds a request.
   *
   * @param digest of its body, in hex
   * @return its number, from 0
   */
  int add(String digest) {
    int first = find(digest);
    return put(first < 0 ? digest : Sha256.of(digest + "/" + copies[first]++));
  }

  /** Returns the number of the request with this key; -1 if there is none. */
  int find(String key) {
    long one = half(key, 0);
    long two = half(key, 16);
    for (int slot = slot(one); ; slot = (slot + 1) & (slots.length - 1)) {
      int number = slots[slot] - 1;
      if (number < 0 || (high[number] == one && low[number] == two)) {
        return number;
      }
    }
  }

  private int put(String key) {
    if (size == high.length) {
      high = Arrays.copyOf(high, size * 2);
      low = Arrays.copyOf(low, size * 2);
      places = Arrays.copyOf(places, size * 2);
      copies = Arrays.copyOf(copies, size * 2);
    }
    if (size * 2 > slots.length) {
      slots = new int[slots.length * 2];
      for (int number = 0; number < size; number++) {
        enter(number);
      }
    }
    high[size] = half(key, 0);
    low[size] = half(key, 16);
    places[size] = NONE;
    copies[size] = 1;
    enter(size);
    return size++;
  }

  private void enter(int number) {
    int slot = slot(high[number]);
    while (slots[slot] != 0) {
      slot = (slot + 1) & (slots.length - 1);
    }
    slots[slot] = number + 1;
  }

  private int slot(long half) {
    return (int) (half ^ half >>> 32) & (slots.length - 1);
  }

  private static long half(String key, int from) {
    return Long.parseUnsignedLong(key, from, from + 16, 16);
  }

  /** Returns the first 32 hex digits of a request's key. */
  String key(int number) {
    return String.format("%016x%016x", high[number], low[number]);
  }

  long place(int number) {
    return places[number];
  }

  void set(int number, long place) {
    places[number] = place;
  }

  int size() {
    return size;
  }
}
