package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.util.Optional;

/**
 * How many files a sync may delete at the target.
 *
 * @param number a number of files, or a percentage of the target's files
 */
public record DeleteLimit(long number, boolean percent) {
  /** What applies if nothing is typed. */
  public static final DeleteLimit USUAL = new DeleteLimit(10, true);

  /** Reads {@code 500} or {@code 10%}; empty if the text is neither. */
  public static Optional<DeleteLimit> parse(String text) {
    boolean percent = text.endsWith("%");
    String digits = percent ? text.substring(0, text.length() - 1) : text;
    if (!digits.matches("\\d{1,12}") || (percent && Long.parseLong(digits) > 100)) {
      return Optional.empty();
    }
    return Optional.of(new DeleteLimit(Long.parseLong(digits), percent));
  }

  /**
   * Throws if a plan may not be carried out.
   *
   * @param deletes the planned deletions
   * @param target the files at the target, with those that would be deleted
   * @param source the files at the source
   * @param complete whether all files of the source are known
   */
  void check(long deletes, long target, long source, boolean complete) {
    if (deletes == 0) {
      return;
    }
    if (!complete) {
      throw refused(
          "--delete: a part of the source cannot be read, so " + deletes + " deletions are unsafe",
          "mend what is named above, or sync without --delete");
    }
    if (source == 0) {
      throw refused(
          "--delete: the source has no files, and all " + deletes + " files would be deleted",
          "check that the folder is mounted and that the address is right");
    }
    if (deletes > most(target)) {
      throw refused(
          "--delete: "
              + deletes
              + " of "
              + target
              + " files would be deleted, more than --max-delete "
              + text(),
          "nexa-slurm sync plan --delete lists them; then --max-delete " + deletes);
    }
  }

  private long most(long target) {
    return percent ? target * number / 100 : number;
  }

  private String text() {
    return number + (percent ? "%" : "");
  }

  private static NexaException refused(String message, String advice) {
    return new NexaException(
        ErrorCode.SYNC_DELETION_REFUSED,
        message,
        Advice.step("nothing was copied or deleted"),
        Advice.step(advice));
  }
}
