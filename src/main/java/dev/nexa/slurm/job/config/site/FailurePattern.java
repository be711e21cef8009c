package dev.nexa.slurm.job.config.site;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A kind of line in a job's log that says something about a failure.
 *
 * @param failure the class of the failure, such as {@code gpu-memory}; {@code none} for a line that
 *     only follows a failure
 * @param pattern what the line contains
 * @param unless a line that contains this does not count; empty for no exception
 * @param means a sentence for a person
 * @param advice a sentence that says what to do; empty if there is no remedy
 * @param key the config's key that the advice is about; empty if there is none
 */
public record FailurePattern(
    String id,
    String failure,
    Role role,
    Pattern pattern,
    Optional<Pattern> unless,
    String means,
    Optional<String> advice,
    Optional<String> key) {

  /** The role of a line in a failure. */
  public enum Role {
    /** The job's own script says it before the command starts. There can be no other cause. */
    VERDICT,
    /** It shows the cause. */
    ROOT,
    /** It supports a cause, but proves nothing alone. */
    CONFIRMATION,
    /** It follows from another failure. */
    CASCADE;

    /** Returns the role of the file's word, in lower case. */
    static Role of(String word) {
      return valueOf(word.toUpperCase(Locale.ROOT));
    }
  }

  /** Returns whether the line is of this kind. */
  public boolean matches(String line) {
    return pattern.matcher(line).find()
        && !(unless.isPresent() && unless.get().matcher(line).find());
  }
}
