package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.base.json.JsonObject;
import java.util.Arrays;

/**
 * How long jobs waited from their submission to their start, in seconds.
 *
 * @param jobs how many; the others are 0 if there is none
 * @param half the time that half of them did not exceed
 * @param nineTenths the time that nine in ten of them did not exceed
 */
public record Waits(int jobs, long half, long nineTenths, long longest) {
  JsonObject toJson() {
    return new JsonObject()
        .with("jobs", jobs)
        .with("p50_seconds", jobs == 0 ? null : half)
        .with("p90_seconds", jobs == 0 ? null : nineTenths)
        .with("longest_seconds", jobs == 0 ? null : longest);
  }

  /** Collects waits: four bytes for each. */
  static final class Collector {
    private int[] seconds = new int[1024];
    private int count;

    void add(long wait) {
      if (count == seconds.length) {
        seconds = Arrays.copyOf(seconds, count * 2);
      }
      seconds[count++] = (int) Math.max(0, Math.min(Integer.MAX_VALUE, wait));
    }

    Waits waits() {
      int[] sorted = Arrays.copyOf(seconds, count);
      Arrays.sort(sorted);
      return new Waits(count, at(sorted, 50), at(sorted, 90), at(sorted, 100));
    }

    private static long at(int[] sorted, int percent) {
      int rank = (int) (((long) percent * sorted.length + 99) / 100);
      return sorted.length == 0 ? 0 : sorted[Math.max(0, rank - 1)];
    }
  }
}
