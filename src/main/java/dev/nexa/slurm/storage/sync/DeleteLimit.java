package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How many files a sync may delete at the target.
 *
 * @param number a number of files, or a percentage of the target's files
 */
public record DeleteLimit(long number, boolean percent) {
  /** What applies if nothing is typed. */
  public static final DeleteLimit USUAL = new DeleteLimit(10, true);

  /**
   * Reads what {@code --max-delete} says: {@code 500} or {@code 10%}.
   *
   * @param typed null if it was not typed
   * @param what the plural of what is deleted
   * @throws NexaException if the text is neither
   */
  public static DeleteLimit parse(@Nullable String typed, String what) {
    if (typed == null) {
      return USUAL;
    }
    boolean percent = typed.endsWith("%");
    String digits = percent ? typed.substring(0, typed.length() - 1) : typed;
    if (!digits.matches("\\d{1,12}") || (percent && Long.parseLong(digits) > 100)) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--max-delete: expected a number of " + what + " or a percentage, got '" + typed + "'",
          Advice.step("--max-delete 10%"));
    }
    return new DeleteLimit(Long.parseLong(digits), percent);
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
            "%s of %s %s would be deleted, more than --max-delete %s"
                .formatted(deletes, target, what, text()))
        : Optional.empty();
  }

  /** Returns how many of so many files may be deleted. */
  public long most(long target) {
    return percent ? target * number / 100 : number;
  }

  /** Returns the limit as it is typed. */
  public String text() {
    return number + (percent ? "%" : "");
  }
}
