package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.units.IndexRange;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * The subject of a row, from sacct's JobID: a job {@code 123}, an array task {@code 123_4}, tasks
 * that Slurm never split {@code 123_[7-99%4]}, or a component of a het job {@code 123+1}. Slurm's
 * job ids are unsigned numbers of 32 bits.
 *
 * @param cluster null if no column names it
 * @param number the id of the array or of the het job's leader, as an unsigned int
 * @param task the array index; {@link #NONE} if there is none
 * @param het the component; {@link #NONE} if there is none
 * @param tasks the range, without {@code %4}; null if there is none
 */
public record UsageId(
    @Nullable String cluster, int number, int task, int het, @Nullable String tasks) {
  /** No index. */
  public static final int NONE = -1;

  /** By cluster and number, then tasks before a range of tasks. */
  static final Comparator<UsageId> ORDER = UsageId::compare;

  /** Returns a copy with this cluster. */
  UsageId on(String known) {
    return new UsageId(known, number, task, het, tasks);
  }

  /** Returns the number as an unsigned value. */
  public long job() {
    return Integer.toUnsignedLong(number);
  }

  /**
   * Reads the part of a JobID before the step's point.
   *
   * @param cluster the cluster's name; null if it is not known
   * @param text such as {@code 123_4}, without a step
   * @return null if the text is no job id
   */
  public static @Nullable UsageId parse(@Nullable String cluster, String text) {
    int end = digits(text, 0);
    long job = number(text, 0, end);
    if (job < 0 || job > 0xFFFF_FFFDL) {
      return null;
    }
    if (end == text.length()) {
      return new UsageId(cluster, (int) job, NONE, NONE, null);
    }
    char sign = text.charAt(end);
    int from = end + 1;
    if (sign == '_' && from < text.length() && text.charAt(from) == '[') {
      return range(cluster, (int) job, text, from + 1);
    }
    long index = digits(text, from) == text.length() ? number(text, from, text.length()) : NONE;
    if (index < 0 || index > IndexRange.MAX_INDEX || (sign != '_' && sign != '+')) {
      return null;
    }
    return sign == '_'
        ? new UsageId(cluster, (int) job, (int) index, NONE, null)
        : new UsageId(cluster, (int) job, NONE, (int) index, null);
  }

  private static @Nullable UsageId range(@Nullable String cluster, int job, String text, int from) {
    int close = text.length() - 1;
    if (close <= from || text.charAt(close) != ']') {
      return null;
    }
    int percent = text.indexOf('%', from);
    String tasks = text.substring(from, percent < 0 ? close : percent);
    return tasks.isEmpty() ? null : new UsageId(cluster, job, NONE, NONE, tasks);
  }

  private static int digits(String text, int from) {
    int end = from;
    while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
      end++;
    }
    return end;
  }

  private static long number(String text, int from, int end) {
    return end == from || end - from > 10 ? NONE : Long.parseLong(text, from, end, 10);
  }

  /** Returns whether the range holds the task; false if Slurm cut the list short ({@code ...}). */
  boolean rangeHolds(int index) {
    if (tasks == null) {
      return false;
    }
    try {
      return IndexRange.parse(tasks).indices().contains(index);
    } catch (IllegalArgumentException cutShort) {
      return false;
    }
  }

  private static int compare(UsageId a, UsageId b) {
    int order = compareTexts(a.cluster, b.cluster);
    if (order == 0) {
      order = Integer.compareUnsigned(a.number, b.number);
    }
    if (order == 0) {
      order = compareTexts(a.tasks, b.tasks);
    }
    if (order == 0) {
      order = Integer.compare(a.task, b.task);
    }
    return order == 0 ? Integer.compare(a.het, b.het) : order;
  }

  private static int compareTexts(@Nullable String a, @Nullable String b) {
    return a == null || b == null ? Boolean.compare(a != null, b != null) : a.compareTo(b);
  }

  /** Returns the id as sacct prints it. */
  @Override
  public String toString() {
    String suffix = task >= 0 ? "_" + task : het >= 0 ? "+" + het : "";
    return job() + (tasks == null ? suffix : "_[" + tasks + "]");
  }
}
