package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.units.IndexRange;
import java.math.BigInteger;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the tasks of an array that Slurm never split, in JSON: {@code 1-4%2}, or, as accounting
 * stores them, a hexadecimal mask whose lowest bit is task 0: {@code 0x1E} (seen with 22.05.8).
 */
final class TaskMask {
  private TaskMask() {}

  /**
   * Returns the tasks as sacct's JobID prints them, such as {@code 1-4}; null if there are none.
   */
  static @Nullable String read(@Nullable String text) {
    if (text == null || text.isEmpty()) {
      return null;
    }
    int percent = text.indexOf('%');
    String set = percent < 0 ? text : text.substring(0, percent);
    if (!set.startsWith("0x")) {
      return set;
    }
    try {
      BigInteger mask = new BigInteger(set.substring(2), 16);
      List<Integer> tasks =
          IntStream.range(0, mask.bitLength()).filter(mask::testBit).boxed().toList();
      return new IndexRange(tasks).toString();
    } catch (NumberFormatException notAMask) {
      return set;
    }
  }
}
