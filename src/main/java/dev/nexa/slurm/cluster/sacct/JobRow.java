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
 * @param submit epoch seconds as an unsigned int, like start and end
 * @param elapsed seconds as sacct counts them
 * @param cpus allocated CPUs
 * @param memory allocated memory in bytes
 * @param cpuMicros CPU time of all steps in microseconds; 0 is no information, because {@code -X}
 *     prints 0
 * @param energy consumed energy in joules
 * @param gpus allocated GPUs by type
 * @param other columns that no Slurm from 20.11 to 26.05 has, by name
 */
record JobRow(
    UsageId id,
    int line,
    int rawId,
    int submit,
    int start,
    int end,
    int elapsed,
    int cpus,
    long memory,
    long cpuMicros,
    long energy,
    @Nullable String name,
    @Nullable String user,
    @Nullable String account,
    @Nullable String state,
    @Nullable String exitCode,
    @Nullable String nodes,
    @Nullable Map<String, Long> gpus,
    @Nullable Map<String, String> other) {
  static final int UNKNOWN = -1;

  /** Returns a copy of the row under another id. */
  JobRow of(UsageId other) {
    return other.equals(id)
        ? this
        : new JobRow(
            other,
            line,
            rawId,
            submit,
            start,
            end,
            elapsed,
            cpus,
            memory,
            cpuMicros,
            energy,
            name,
            user,
            account,
            state,
            exitCode,
            nodes,
            gpus,
            this.other);
  }

  /**
   * Returns the start of the attempt, or the time it was queued if it never began; epoch seconds.
   */
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

  /** Returns whether the row can be that of a job that was resized. */
  boolean mayBeResized() {
    return state == null || JobState.parse(state) == JobState.RESIZING;
  }

  /** Returns whether the attempt is over: it has an end, or its state ends an attempt. */
  boolean ended() {
    return end != UNKNOWN || (state != null && JobState.parse(state).endsAttempt());
  }
}
