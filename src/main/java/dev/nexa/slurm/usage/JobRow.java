package dev.nexa.slurm.usage;

import dev.nexa.slurm.scheduler.JobState;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An allocation's row: one attempt. Primitive and small, because a dump may hold a million; what is
 * not known is {@link #UNKNOWN}, or null.
 *
 * @param line where it was read, from 1
 * @param rawId its own id as an unsigned int
 * @param submit epoch seconds as an unsigned int, as are start and end
 * @param elapsed seconds, sacct's own figure
 * @param cpus allocated
 * @param memory allocated, bytes
 * @param cpuMicros used, microseconds, of all steps together; 0 says nothing (it is what {@code -X}
 *     prints)
 * @param energy joules
 * @param gpus by type
 * @param other columns that no Slurm we know has
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

  /** When the attempt began, or was queued where it never did. */
  long order() {
    return Integer.toUnsignedLong(start != UNKNOWN ? start : submit);
  }

  /** Whether it had its allocation at that second. */
  boolean ranAt(int second) {
    long at = Integer.toUnsignedLong(second);
    return start != UNKNOWN
        && Integer.toUnsignedLong(start) <= at
        && (end == UNKNOWN || at <= Integer.toUnsignedLong(end));
  }

  /** By its end, or by its state where the dump has no ends. */
  boolean ended() {
    return end != UNKNOWN || (state != null && JobState.parse(state).endsAttempt());
  }
}
