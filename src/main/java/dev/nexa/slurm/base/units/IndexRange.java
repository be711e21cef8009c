package dev.nexa.slurm.base.units;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A set of array indices in Slurm's notation (sbatch(1), {@code --array}): {@code 0-15}, {@code
 * 1,3,5-7}, {@code 0-90:5}.
 *
 * @param indices the indices; {@link #parse} returns them in ascending order
 */
public record IndexRange(List<Integer> indices) {
  /** Slurm's hard upper limit of MaxArraySize (slurm.conf(5)). */
  public static final int MAX_INDEX = 4_000_000;

  public IndexRange {
    indices = List.copyOf(indices);
  }

  /** Returns a range of one index. */
  public static IndexRange of(int index) {
    return new IndexRange(List.of(index));
  }

  /** Returns the range from 0 to {@code count - 1}. */
  public static IndexRange upTo(int count) {
    List<Integer> all = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      all.add(i);
    }
    return new IndexRange(all);
  }

  /**
   * Parses the notation. Ignores a trailing {@code %N}, the number of tasks that run at once.
   *
   * @throws IllegalArgumentException if the text is not a range, or if squeue has cut it short with
   *     {@code ...}
   */
  public static IndexRange parse(String text) {
    int percent = text.indexOf('%');
    String set = percent < 0 ? text : text.substring(0, percent);
    BitSet bits = new BitSet();
    try {
      for (String part : set.split(",", -1)) {
        add(bits, part);
      }
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException(
          "expected array indices such as 0-15 or 1,3,5-7, got '" + text + "'", notANumber);
    }
    List<Integer> indices = new ArrayList<>(bits.cardinality());
    for (int i = bits.nextSetBit(0); i >= 0; i = bits.nextSetBit(i + 1)) {
      indices.add(i);
    }
    return new IndexRange(indices);
  }

  private static void add(BitSet bits, String part) {
    int colon = part.indexOf(':');
    int step = colon < 0 ? 1 : index(part.substring(colon + 1));
    String range = colon < 0 ? part : part.substring(0, colon);
    int dash = range.indexOf('-');
    int from = index(dash < 0 ? range : range.substring(0, dash));
    int to = dash < 0 ? from : index(range.substring(dash + 1));
    if (to < from || step == 0) {
      throw new NumberFormatException(part);
    }
    for (int i = from; i <= to; i += step) {
      bits.set(i);
    }
  }

  private static int index(String digits) {
    int index = Integer.parseInt(digits);
    if (index < 0 || index > MAX_INDEX) {
      throw new NumberFormatException(digits);
    }
    return index;
  }

  /** Returns a range with {@code offset} added to each index. */
  public IndexRange plus(int offset) {
    if (offset == 0) {
      return this;
    }
    List<Integer> moved = new ArrayList<>(indices.size());
    for (int index : indices) {
      moved.add(index + offset);
    }
    return new IndexRange(moved);
  }

  /** Returns the range in Slurm's notation: {@code 0-3,7}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < indices.size(); ) {
      int j = i;
      while (j + 1 < indices.size() && indices.get(j + 1) == indices.get(j) + 1) {
        j++;
      }
      if (text.length() > 0) {
        text.append(',');
      }
      text.append(indices.get(i));
      if (j > i) {
        text.append('-').append(indices.get(j));
      }
      i = j + 1;
    }
    return text.toString();
  }
}
