package dev.nexa.slurm.cluster.scheduler;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Slurm's job states and state flags, and four states that only nexa-slurm uses.
 *
 * <p>Slurm's names are those that squeue and sacct print ({@code job_state_string} in
 * slurm_protocol_defs.c, Slurm 22.05 to 26.05). Each constant says whether it ends an attempt or a
 * task, and whether the job may run again.
 */
public enum JobState {
  PENDING(Kind.BASE, Ends.NOTHING, Next.NONE),
  RUNNING(Kind.BASE, Ends.NOTHING, Next.NONE),
  SUSPENDED(Kind.BASE, Ends.NOTHING, Next.NONE),
  COMPLETED(Kind.BASE, Ends.TASK, Next.NONE),
  CANCELLED(Kind.BASE, Ends.TASK, Next.NONE),
  FAILED(Kind.BASE, Ends.TASK, Next.NONE),
  TIMEOUT(Kind.BASE, Ends.TASK, Next.NONE),
  NODE_FAIL(Kind.BASE, Ends.TASK, Next.SLURM_REQUEUES),
  PREEMPTED(Kind.BASE, Ends.TASK, Next.SLURM_REQUEUES),
  BOOT_FAIL(Kind.BASE, Ends.TASK, Next.SLURM_REQUEUES),
  DEADLINE(Kind.BASE, Ends.TASK, Next.NONE),
  OUT_OF_MEMORY(Kind.BASE, Ends.TASK, Next.NONE),
  COMPLETING(Kind.FLAG, Ends.NOTHING, Next.NONE),
  STAGE_OUT(Kind.FLAG, Ends.NOTHING, Next.NONE),
  CONFIGURING(Kind.FLAG, Ends.NOTHING, Next.NONE),
  EXPEDITING(Kind.FLAG, Ends.NOTHING, Next.NONE),
  RESIZING(Kind.STORED_FLAG, Ends.ATTEMPT, Next.SAME_JOB),
  REQUEUED(Kind.STORED_FLAG, Ends.ATTEMPT, Next.SAME_JOB),
  REQUEUE_FED(Kind.STORED_FLAG, Ends.NOTHING, Next.SAME_JOB),
  REQUEUE_HOLD(Kind.STORED_FLAG, Ends.NOTHING, Next.SAME_JOB),
  SPECIAL_EXIT(Kind.STORED_FLAG, Ends.NOTHING, Next.SAME_JOB),
  STOPPED(Kind.FLAG, Ends.NOTHING, Next.NONE),
  REVOKED(Kind.STORED_FLAG, Ends.TASK, Next.NONE),
  RESV_DEL_HOLD(Kind.FLAG, Ends.NOTHING, Next.NONE),
  SIGNALING(Kind.FLAG, Ends.NOTHING, Next.NONE),
  /** The scheduler refused the task's submission. */
  REFUSED(Kind.OURS, Ends.TASK, Next.NONE),
  /** The scheduler accepted the task's submission and lost it. */
  VANISHED(Kind.OURS, Ends.TASK, Next.NONE),
  /** The task's submission was never sent. */
  NOT_SUBMITTED(Kind.OURS, Ends.TASK, Next.NONE),
  /** A word that no known Slurm prints. This state is never final. Users see the printed word. */
  UNRECOGNIZED(Kind.OURS, Ends.NOTHING, Next.NONE);

  private enum Kind {
    BASE,
    FLAG,
    /** A flag that accounting stores in place of the base state. */
    STORED_FLAG,
    OURS
  }

  private enum Ends {
    NOTHING,
    /** The accounting row has an end and a cost. The job may still run again. */
    ATTEMPT,
    TASK
  }

  private enum Next {
    NONE,
    /** Another attempt of this job follows. */
    SAME_JOB,
    /** Slurm queues the job again if the job may be requeued. */
    SLURM_REQUEUES
  }

  private static final Map<String, JobState> BY_NAME = new HashMap<>();

  static {
    for (JobState state : values()) {
      BY_NAME.put(state.name(), state);
    }
  }

  private final Kind kind;
  private final Ends ends;
  private final Next next;

  JobState(Kind kind, Ends ends, Next next) {
    this.kind = kind;
    this.ends = ends;
    this.next = next;
  }

  /**
   * Reads the first word of a printed state: {@code CANCELLED by 1000} and {@code CANCELLED+} are
   * CANCELLED. Case does not matter.
   *
   * @return the state, or {@link #UNRECOGNIZED} for a word that is no state
   */
  public static JobState parse(String text) {
    int end = 0;
    while (end < text.length()
        && (Character.isLetter(text.charAt(end)) || text.charAt(end) == '_')) {
      end++;
    }
    return BY_NAME.getOrDefault(text.substring(0, end).toUpperCase(Locale.ROOT), UNRECOGNIZED);
  }

  /** Returns whether Slurm prints this word; false for nexa-slurm's own states. */
  public boolean isSlurms() {
    return kind != Kind.OURS;
  }

  /** Returns whether this is one of Slurm's base states, not a flag. */
  public boolean isBase() {
    return kind == Kind.BASE;
  }

  /**
   * Returns whether accounting stores this flag in place of the base state. If a row has several
   * such flags, sacct prints the first in the order of the constants.
   */
  public boolean isStoredFlag() {
    return kind == Kind.STORED_FLAG;
  }

  /** Returns whether the job may run again under its id after an attempt with this state. */
  public boolean mayGoOn() {
    return next != Next.NONE;
  }

  /**
   * Returns whether Slurm itself queues the job again after this end, if the job may be requeued.
   */
  public boolean isRequeuedBySlurm() {
    return next == Next.SLURM_REQUEUES;
  }

  /**
   * Returns whether this state ends an attempt: its row has an end and a cost. The job may still
   * run again.
   */
  public boolean endsAttempt() {
    return ends != Ends.NOTHING;
  }

  /**
   * Returns whether this state, in a task's newest row, ends the task once squeue no longer lists
   * it.
   */
  public boolean endsTask() {
    return ends == Ends.TASK;
  }
}
