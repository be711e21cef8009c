package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.job.config.Signature;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Something that is known about a failure.
 *
 * @param id the signature's name; {@code traceback} for an exception that no signature names; for
 *     what Slurm says, Slurm's state in lower case
 * @param failure the class of the failure, such as {@code gpu-memory}
 * @param means a sentence for a person
 * @param advice a sentence that says what to do; empty if nothing can be done
 * @param key the config's key that the advice is about; empty if there is none
 * @param line the line that shows it; empty if no log does
 */
public record Finding(
    String id,
    String failure,
    String means,
    Optional<String> advice,
    Optional<String> key,
    Optional<Place> line) {

  /** The id of an exception that no signature names. */
  static final String EXCEPTION = "traceback";

  private static final int LONGEST = 160;

  /** A line and its file. */
  public record Place(Path file, LogLine line) {}

  static Finding of(Signature signature, Place place) {
    return new Finding(
        signature.id(),
        signature.failure(),
        signature.means(),
        signature.advice(),
        signature.key(),
        Optional.of(place));
  }

  /** Makes the finding of an exception that no signature names. */
  static Finding exception(Place place) {
    return new Finding(
        EXCEPTION,
        "python-error",
        "The program ended with an exception.",
        Optional.of("Read the traceback above this line."),
        Optional.empty(),
        Optional.of(place));
  }

  /** Returns a copy that names the line of another finding of the same cause. */
  Finding shownBy(Finding other) {
    return new Finding(id, failure, means, advice, key, other.line());
  }

  /** Returns a copy with another sentence. */
  Finding meaning(String words) {
    return new Finding(id, failure, words, advice, key, line);
  }

  /** Returns a copy with other advice. */
  Finding advising(String words) {
    return new Finding(id, failure, means, Optional.of(words), key, line);
  }

  /** Returns the finding as one sentence; that of an exception quotes the exception. */
  String sentence() {
    return id.equals(EXCEPTION) && line.isPresent()
        ? "The program ended with an exception: "
            + LogLine.shortened(line.get().line().text().strip(), LONGEST)
        : means;
  }

  /** Makes a finding that rests on what Slurm or the job's own record says. */
  static Finding stated(String id, String failure, String means, String advice, String key) {
    return new Finding(
        id,
        failure,
        means,
        advice.isEmpty() ? Optional.empty() : Optional.of(advice),
        key.isEmpty() ? Optional.empty() : Optional.of(key),
        Optional.empty());
  }
}
