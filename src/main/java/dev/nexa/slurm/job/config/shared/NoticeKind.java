package dev.nexa.slurm.job.config.shared;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The kinds of events that somebody can be notified of. */
public enum NoticeKind {
  /** A run or a pipeline has completed, or was cancelled by a person. */
  ENDED,
  /** A run or a pipeline has failed. */
  FAILED,
  /** A run was refused because of a budget, or more was spent than a budget allows. */
  OVER_BUDGET,
  /** A run was refused because its cost has no approval. */
  APPROVAL_NEEDED,
  /** The verdict of a gate is `fail`. */
  GATE_FAILED,
  /** A release was packaged. */
  RELEASED,
  /** Another release is in production. */
  DEPLOYED,
  /** A halt is in force. */
  HALTED,
  /** Stands for many notifications that waited for one channel. No file names it. */
  SUMMARY,
  /** The message of `notify test`. No file names it. */
  TEST;

  /** Returns the name in files: lower case. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the kind with this name. */
  public static NoticeKind of(String text) {
    return valueOf(text.toUpperCase(Locale.ROOT));
  }

  /** Returns the kinds that a policy can name. */
  static List<NoticeKind> ofPolicy() {
    return Stream.of(values()).filter(kind -> kind != SUMMARY && kind != TEST).toList();
  }

  /** Returns the kinds that a run's config can name. */
  static List<NoticeKind> ofRun() {
    return List.of(ENDED, FAILED, GATE_FAILED);
  }
}
