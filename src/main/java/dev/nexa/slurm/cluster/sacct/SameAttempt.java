package dev.nexa.slurm.cluster.sacct;

import java.util.ArrayList;
import java.util.List;
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
    if (differ(a.name(), b.name())
        || differ(a.user(), b.user())
        || differ(a.submit(), b.submit())) {
      return Answer.OTHER;
    }
    if (differ(a.start(), b.start())) {
      return Answer.OTHER;
    }
    boolean goesOn = States.mayGoOn(a.state()) || States.mayGoOn(b.state());
    boolean sameSubmit = a.submit() != JobRow.UNKNOWN && b.submit() != JobRow.UNKNOWN;
    boolean sameStart = a.start() != JobRow.UNKNOWN && b.start() != JobRow.UNKNOWN;
    boolean sameEnd = a.end() != JobRow.UNKNOWN && a.end() == b.end();
    // slurmdbd identifies a row by job id and submit time, but a resized job has several rows.
    if (sameSubmit && !goesOn) {
      return Answer.SAME;
    }
    if (differ(a.end(), b.end())) {
      return Answer.OTHER;
    }
    if (sameStart || sameEnd) {
      boolean resized = "RESIZING".equals(a.state()) || "RESIZING".equals(b.state());
      // A dump without the column End has no end, even for an attempt that is over.
      boolean ends = sameEnd || (a.ended() && b.ended() && !differ(a.elapsed(), b.elapsed()));
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
    differ("elapsed", a.elapsed(), b.elapsed(), all);
    differ("CPUs", a.cpus(), b.cpus(), all);
    differ("memory", a.memory(), b.memory(), all);
    differ("end", a.end(), b.end(), all);
    if (a.gpus() != null && b.gpus() != null && !a.gpus().equals(b.gpus())) {
      all.add("GPUs " + a.gpus() + " and " + b.gpus());
    }
    return all;
  }

  private static void differ(String what, long a, long b, List<String> all) {
    if (a != JobRow.UNKNOWN && b != JobRow.UNKNOWN && a != b) {
      all.add(what + " " + a + " and " + b);
    }
  }

  /** Returns the newer row, with the values that it lacks taken from the older row. */
  static JobRow merged(JobRow newer, JobRow older) {
    return new JobRow(
        newer.id(),
        newer.line(),
        first(newer.rawId(), older.rawId()),
        first(newer.submit(), older.submit()),
        first(newer.start(), older.start()),
        first(newer.end(), older.end()),
        first(newer.elapsed(), older.elapsed()),
        first(newer.cpus(), older.cpus()),
        first(newer.memory(), older.memory()),
        newer.cpuMicros() > 0 ? newer.cpuMicros() : Math.max(newer.cpuMicros(), older.cpuMicros()),
        first(newer.energy(), older.energy()),
        first(newer.name(), older.name()),
        first(newer.user(), older.user()),
        first(newer.account(), older.account()),
        first(newer.state(), older.state()),
        first(newer.exitCode(), older.exitCode()),
        first(newer.nodes(), older.nodes()),
        first(newer.gpus(), older.gpus()),
        first(newer.other(), older.other()));
  }

  private static boolean differ(int a, int b) {
    return a != JobRow.UNKNOWN && b != JobRow.UNKNOWN && a != b;
  }

  private static boolean differ(@Nullable String a, @Nullable String b) {
    return a != null && b != null && !Objects.equals(a, b);
  }

  private static int first(int a, int b) {
    return a != JobRow.UNKNOWN ? a : b;
  }

  private static long first(long a, long b) {
    return a != JobRow.UNKNOWN ? a : b;
  }

  private static <T> @Nullable T first(@Nullable T a, @Nullable T b) {
    return a != null ? a : b;
  }
}
