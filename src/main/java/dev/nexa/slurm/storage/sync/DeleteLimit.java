package dev.nexa.slurm.storage.sync;

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
  /** The limit that applies if none is typed. */
  public static final DeleteLimit USUAL = new DeleteLimit(10, true);

  /**
   * Reads the value of {@code --max-delete}: {@code 500} or {@code 10%}.
   *
   * @param typed null if it was not typed
   * @param what names the things that are deleted, in the plural
   * @throws NexaException if the text is neither
   */
  public static DeleteLimit parse(@Nullable String typed, String what) {
    if (typed == null) {
      return USUAL;
    }
    boolean percent = typed.endsWith("%");
    String digits = percent ? typed.substring(0, typed.length() - 1) : typed;
    if (!digits.matches("\\d{1,12}") || (percent && Long.parseLong(digits) > 100)) {
      throw ErrorCode.OPTION_INVALID.error(
          "--max-delete: expected a number of " + what + " or a percentage, got '" + typed + "'",
          "--max-delete 10%");
    }
    return new DeleteLimit(Long.parseLong(digits), percent);
  }

  /**
   * Returns why deletions are refused; empty if they are within the limit.
   *
   * @param deletes the planned deletions
   * @param target the files at the target, with the files that would be deleted
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
   * Returns a text that says that these deletions exceed the limit; empty if they do not.
   *
   * @param target the files or objects at the target, with the things that would be deleted
   * @param what names the things that are deleted, in the plural
   */
  public Optional<String> excess(long deletes, long target, String what) {
    return deletes > most(target)
        ? Optional.of(
            "%s of %s %s would be deleted, more than --max-delete %s"
                .formatted(deletes, target, what, text()))
        : Optional.empty();
  }

  /** Returns how many files may be deleted at a target with this many files. */
  public long most(long target) {
    return percent ? target * number / 100 : number;
  }

  /** Returns the limit in the form that a user types. */
  public String text() {
    return number + (percent ? "%" : "");
  }
}
