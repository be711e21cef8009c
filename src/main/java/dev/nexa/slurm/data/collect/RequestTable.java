package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.files.Sha256;
import java.util.Arrays;

/**
 * Remembers the place of each request's answer, by the request's number. Holds no text: each
 * request takes about 40 bytes.
 *
 * <p>A request is known by 128 bits of its key, a SHA-256 in hex.
 */
public final class RequestTable {
  /** The place of a request without an answer. */
  public static final long NONE = -1;

  private long[] high = new long[1 << 10];
  private long[] low = new long[1 << 10];
  private long[] places = new long[1 << 10];

  /** For the first request with a digest: how many requests have it. */
  private int[] copies = new int[1 << 10];

  /** Request numbers plus 1, by their keys; 0 marks an unused slot. */
  private int[] slots = new int[1 << 12];

  private int size;

  /**
   * Adds a request, whose number is the size before. The first request with a digest has it as its
   * key. Each further one has a key of its own, so that several samples of one prompt stay several
   * answers.
   */
  public void add(String digest) {
    int first = find(digest);
    put(first < 0 ? digest : Sha256.of(digest + "/" + copies[first]++));
  }

  /** Adds a request, unless one has the key already; then it returns false. */
  boolean addNew(String key) {
    boolean isNew = find(key) < 0;
    if (isNew) {
      put(key);
    }
    return isNew;
  }

  /** Returns the number of the request with this key; -1 if there is none. */
  public int find(String key) {
    long one = half(key, 0);
    long two = half(key, 16);
    for (int slot = slot(one); ; slot = (slot + 1) & (slots.length - 1)) {
      int number = slots[slot] - 1;
      if (number < 0 || (high[number] == one && low[number] == two)) {
        return number;
      }
    }
  }

  private void put(String key) {
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
    size++;
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
  public String key(int number) {
    return String.format("%016x%016x", high[number], low[number]);
  }

  public long place(int number) {
    return places[number];
  }

  public void set(int number, long place) {
    places[number] = place;
  }

  public int size() {
    return size;
  }
}
