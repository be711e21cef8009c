package dev.nexa.slurm.cluster.sacct;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether two rows of one job id are the same attempt, and merges them. Concatenated dumps
 * may each lack columns that others have. Pure.
 */
final class SameAttempt {
  /** The relation of two rows. */
  enum Answer {
    SAME,
    OTHER,
    /** No time is known in both rows. */
    UNSURE
  }

  private SameAttempt() {}

  /**
   * Compares two rows of one id.
   *
   * @param a the row that began first, as far as that is known
   */
  static Answer of(JobRow a, JobRow b) {
    JobRow.Times at = a.times();
    JobRow.Times bt = b.times();
    if (a.names().contradict(b.names())
        || differ(at.submit(), bt.submit())
        || differ(at.start(), bt.start())) {
      return Answer.OTHER;
    }
    boolean goesOn = States.mayGoOn(a.state()) || States.mayGoOn(b.state());
    boolean sameSubmit = at.submit() != JobRow.UNKNOWN && bt.submit() != JobRow.UNKNOWN;
    boolean sameStart = at.start() != JobRow.UNKNOWN && bt.start() != JobRow.UNKNOWN;
    boolean sameEnd = at.end() != JobRow.UNKNOWN && at.end() == bt.end();
    // slurmdbd identifies a row by job id and submit time, but a resized job has several rows.
    if (sameSubmit && !goesOn) {
      return Answer.SAME;
    }
    if (differ(at.end(), bt.end())) {
      return Answer.OTHER;
    }
    if (sameStart || sameEnd) {
      boolean resized = "RESIZING".equals(a.state()) || "RESIZING".equals(b.state());
      // A dump without the column End has no end, even for an attempt that is over.
      boolean ends = sameEnd || (a.ended() && b.ended() && !differ(at.elapsed(), bt.elapsed()));
      boolean equal = ends && !differ(a.state(), b.state());
      boolean oneIsOlder = !resized && a.ended() != b.ended();
      boolean unknownState = a.state() == null || b.state() == null;
      return equal || oneIsOlder || unknownState || (!goesOn && !resized)
          ? Answer.SAME
          : Answer.OTHER;
    }
    return sameSubmit && !differ(a.state(), b.state()) ? Answer.SAME : Answer.UNSURE;
  }

  /** Returns whether every value that both rows know is equal. */
  static boolean agree(JobRow a, JobRow b) {
    return contradictions(a, b).isEmpty()
        && !differ(a.state(), b.state())
        && !differ(a.exitCode(), b.exitCode());
  }

  /**
   * Returns the values that both rows know and that differ; empty if only one of the rows has
   * ended, because values change until the end.
   */
  static List<String> contradictions(JobRow a, JobRow b) {
    List<String> all = new ArrayList<>(0);
    if (a.ended() != b.ended()) {
      return all;
    }
    differ("elapsed", a.times().elapsed(), b.times().elapsed(), all);
    differ("CPUs", a.allocated().cpus(), b.allocated().cpus(), all);
    differ("memory", a.allocated().memory(), b.allocated().memory(), all);
    differ("end", a.times().end(), b.times().end(), all);
    Map<String, Long> ours = a.allocated().gpus();
    Map<String, Long> theirs = b.allocated().gpus();
    if (ours != null && theirs != null && !ours.equals(theirs)) {
      all.add("GPUs " + ours + " and " + theirs);
    }
    return all;
  }

  private static void differ(String what, long a, long b, List<String> all) {
    if (differ(a, b)) {
      all.add(what + " " + a + " and " + b);
    }
  }

  /** Returns the newer row, with the values that it lacks taken from the older row. */
  static JobRow merged(JobRow newer, JobRow older) {
    return new JobRow(
        newer.id(),
        newer.line(),
        JobRow.known(newer.rawId(), older.rawId()),
        newer.times().orElse(older.times()),
        newer.allocated().orElse(older.allocated()),
        newer.cpuMicros() > 0 ? newer.cpuMicros() : Math.max(newer.cpuMicros(), older.cpuMicros()),
        newer.energy() != JobRow.UNKNOWN ? newer.energy() : older.energy(),
        newer.names().orElse(older.names()),
        first(newer.state(), older.state()),
        first(newer.exitCode(), older.exitCode()),
        first(newer.nodes(), older.nodes()),
        first(newer.other(), older.other()));
  }

  private static boolean differ(long a, long b) {
    return a != JobRow.UNKNOWN && b != JobRow.UNKNOWN && a != b;
  }

  private static boolean differ(@Nullable String a, @Nullable String b) {
    return a != null && b != null && !Objects.equals(a, b);
  }

  private static <T> @Nullable T first(@Nullable T a, @Nullable T b) {
    return a != null ? a : b;
  }
}
