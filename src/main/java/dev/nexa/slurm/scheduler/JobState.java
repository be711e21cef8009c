package dev.nexa.slurm.scheduler;

import java.util.Locale;

/**
 * Slurm's job states and state flags by the names that squeue and sacct print ({@code
 * job_state_string} in Slurm's slurm_protocol_defs.c, 22.05 to 26.05).
 */
public enum JobState {
  PENDING,
  RUNNING,
  SUSPENDED,
  COMPLETED,
  CANCELLED,
  FAILED,
  TIMEOUT,
  NODE_FAIL,
  PREEMPTED,
  BOOT_FAIL,
  DEADLINE,
  OUT_OF_MEMORY,
  COMPLETING,
  STAGE_OUT,
  CONFIGURING,
  EXPEDITING,
  RESIZING,
  REQUEUED,
  REQUEUE_FED,
  REQUEUE_HOLD,
  SPECIAL_EXIT,
  STOPPED,
  REVOKED,
  RESV_DEL_HOLD,
  SIGNALING,
  /** Ours: the scheduler refused the task's submission. */
  REFUSED,
  /** Ours: the scheduler took the task's submission and lost it. */
  VANISHED,
  /** Ours: the task's submission was never made. */
  NOT_SUBMITTED,
  /** A word that no Slurm we know prints: never final, shown to the user as it came. */
  UNRECOGNIZED;

  /**
   * Reads the first word of a state: {@code CANCELLED by 1000} and {@code CANCELLED+} are
   * CANCELLED.
   */
  public static JobState parse(String text) {
    int end = 0;
    while (end < text.length()
        && (Character.isLetter(text.charAt(end)) || text.charAt(end) == '_')) {
      end++;
    }
    String word = text.substring(0, end).toUpperCase(Locale.ROOT);
    for (JobState state : values()) {
      if (state.name().equals(word)) {
        return state;
      }
    }
    return UNRECOGNIZED;
  }

  /** Whether the job may run again, under its id, after an attempt that ended so. */
  public boolean mayGoOn() {
    return switch (this) {
      case REQUEUED, NODE_FAIL, PREEMPTED, RESIZING, REQUEUE_HOLD, SPECIAL_EXIT, REQUEUE_FED ->
          true;
      default -> false;
    };
  }

  /** Whether one allocation is over: its row has an end and a cost. The job may still run again. */
  public boolean endsAttempt() {
    return this == REQUEUED || this == RESIZING || endsTask();
  }

  /**
   * Whether the task itself is over once its newest row says this and squeue no longer lists it.
   */
  public boolean endsTask() {
    return switch (this) {
      case COMPLETED,
          CANCELLED,
          FAILED,
          TIMEOUT,
          NODE_FAIL,
          PREEMPTED,
          BOOT_FAIL,
          DEADLINE,
          OUT_OF_MEMORY,
          REVOKED,
          REFUSED,
          VANISHED,
          NOT_SUBMITTED ->
          true;
      default -> false;
    };
  }
}
