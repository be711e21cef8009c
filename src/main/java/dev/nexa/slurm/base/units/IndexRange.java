package dev.nexa.slurm.base.units;

import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

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
    return new IndexRange(IntStream.range(0, count).boxed().toList());
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
    return new IndexRange(bits.stream().boxed().toList());
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

  /**
   * Returns the range in the fewest parts, with steps, in ascending order and without overlaps:
   * {@code 0-20:10,25}. The least index is the text's first number, the greatest is the last one
   * that is no step.
   */
  public String withSteps() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < indices.size(); ) {
      int step = i + 1 < indices.size() ? indices.get(i + 1) - indices.get(i) : 1;
      int last = i;
      while (last + 1 < indices.size() && indices.get(last + 1) - indices.get(last) == step) {
        last++;
      }
      last = last == i + 1 && step > 1 ? i : last;
      text.append(text.length() == 0 ? "" : ",").append(indices.get(i));
      text.append(last > i ? "-" + indices.get(last) + (step > 1 ? ":" + step : "") : "");
      i = last + 1;
    }
    return text.toString();
  }

  /** Returns what Slurm takes for the step of an array: its text's first, or 1. */
  public static int step(String text) {
    int colon = text.indexOf(':');
    return colon < 0 ? 1 : Integer.parseInt(text.substring(colon + 1).split("\\D", 2)[0]);
  }

  /** Returns a range with {@code offset} added to each index. */
  public IndexRange plus(int offset) {
    return offset == 0
        ? this
        : new IndexRange(indices.stream().map(index -> index + offset).toList());
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
      text.append(text.length() == 0 ? "" : ",").append(indices.get(i));
      text.append(j > i ? "-" + indices.get(j) : "");
      i = j + 1;
    }
    return text.toString();
  }
}
