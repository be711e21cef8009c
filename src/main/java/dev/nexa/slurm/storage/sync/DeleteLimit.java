package dev.nexa.slurm.storage.sync;

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
   * Returns why deletions are refused; empty if they are within the limit.
   *
   * @param deletes the planned deletions
   * @param target the files at the target, with those that would be deleted
   * @param source the files at the source
   * @param complete whether all names are known
   */
  Optional<String> refusal(long deletes, long target, long source, boolean complete) {
    if (deletes == 0) {
      return Optional.empty();
    }
    if (!complete) {
      return Optional.of(
          "--delete: not all names could be read, so " + deletes + " deletions are unsafe");
    }
    if (source == 0) {
      return Optional.of(
          "--delete: the source has no files, and all " + deletes + " files would be deleted");
    }
    return excess(deletes, target, "files").map(why -> "--delete: " + why);
  }

  /**
   * Returns that so many deletions are more than the limit allows; empty if they are not.
   *
   * @param target the files or objects at the target, with those that would be deleted
   * @param what the plural of what is deleted
   */
  public Optional<String> excess(long deletes, long target, String what) {
    return deletes > most(target)
        ? Optional.of(
            deletes
                + " of "
                + target
                + " "
                + what
                + " would be deleted, more than --max-delete "
                + text())
        : Optional.empty();
  }

  private long most(long target) {
    return percent ? target * number / 100 : number;
  }

  private String text() {
    return number + (percent ? "%" : "");
  }
}
