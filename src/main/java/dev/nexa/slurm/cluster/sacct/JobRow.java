package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.cluster.scheduler.JobState;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The row of an allocation: one attempt of a job. It holds primitives, because a dump may have a
 * million rows. An unknown number is {@link #UNKNOWN}; any other unknown component is null.
 *
 * @param id the job, task or component
 * @param line line of the dump, from 1
 * @param rawId Slurm's own id of the task or component (JobIDRaw), as an unsigned int
 * @param times when it was queued, began and ended
 * @param allocated the resources that it had
 * @param cpuMicros CPU time of all steps in microseconds; 0 is no information, because {@code -X}
 *     prints 0
 * @param energy consumed energy in joules
 * @param other columns that no Slurm from 20.11 to 26.05 has, by name
 */
record JobRow(
    UsageId id,
    int line,
    int rawId,
    Times times,
    Allocated allocated,
    long cpuMicros,
    long energy,
    JobNames names,
    @Nullable String state,
    @Nullable String exitCode,
    @Nullable String nodes,
    @Nullable Map<String, String> other) {
  static final int UNKNOWN = -1;

  /**
   * The times of an attempt.
   *
   * @param submit epoch seconds as an unsigned int, like start and end
   * @param elapsed seconds as sacct counts them
   * @param limit the time limit in seconds; unknown if there is none
   */
  record Times(int submit, int start, int end, int elapsed, int limit) {
    /** Returns these times, with the unknown ones taken from another row. */
    Times orElse(Times other) {
      return new Times(
          known(submit, other.submit),
          known(start, other.start),
          known(end, other.end),
          known(elapsed, other.elapsed),
          known(limit, other.limit));
    }

    /** Returns the start, or the time it was queued if it never began; epoch seconds. */
    long order() {
      return Integer.toUnsignedLong(start != UNKNOWN ? start : submit);
    }

    /** Returns whether the attempt had its allocation at that second. */
    boolean ranAt(int second) {
      long at = Integer.toUnsignedLong(second);
      return start != UNKNOWN
          && Integer.toUnsignedLong(start) <= at
          && (end == UNKNOWN || at <= Integer.toUnsignedLong(end));
    }
  }

  /**
   * The resources of an attempt.
   *
   * @param cpus allocated CPUs
   * @param memory allocated memory in bytes
   * @param gpus allocated GPUs by type
   */
  record Allocated(int cpus, long memory, @Nullable Map<String, Long> gpus) {
    /** Returns these resources, with the unknown ones taken from another row. */
    Allocated orElse(Allocated other) {
      return new Allocated(
          known(cpus, other.cpus),
          memory != UNKNOWN ? memory : other.memory,
          gpus != null ? gpus : other.gpus);
    }
  }

  static int known(int a, int b) {
    return a != UNKNOWN ? a : b;
  }

  /** Returns a copy of the row under another id. */
  JobRow of(UsageId otherId) {
    return new JobRow(
        otherId, line, rawId, times, allocated, cpuMicros, energy, names, state, exitCode, nodes,
        other);
  }

  /** Returns whether the job of this row may have been resized. */
  boolean mayBeResized() {
    return state == null || JobState.parse(state) == JobState.RESIZING;
  }

  /** Returns whether the attempt is over: it has an end, or its state ends an attempt. */
  boolean ended() {
    return times.end() != UNKNOWN || (state != null && JobState.parse(state).endsAttempt());
  }
}
