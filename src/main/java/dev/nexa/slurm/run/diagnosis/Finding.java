package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.job.config.site.FailurePattern;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Something that is known about a failure.
 *
 * @param id the signature's name; {@code traceback} for an exception that no signature names; for
 *     what Slurm says, Slurm's state in lower case
 * @param failure the class of the failure, such as {@code gpu-memory}
 * @param means a sentence for a person
 * @param advice a sentence that says what to do; empty if there is no remedy
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

  /** The class of an error of nexa-slurm's own programs, such as a data step or a gate. */
  static final String OURS = "nexa-slurm";

  private static final int LONGEST = 160;

  /** The beginning of the line that follows such a program's error and says what to do. */
  private static final String OUR_ADVICE = "  → ";

  /** Newer PyTorch puts it before each line of a traceback. */
  private static final Pattern RANK = Pattern.compile("^\\[rank\\d+\\]: ");

  /** Errors that Python finds before it runs the file: the file itself is wrong. */
  private static final Pattern UNREADABLE =
      Pattern.compile(".*\\b(SyntaxError|IndentationError|TabError): .*");

  /**
   * A line and its file.
   *
   * @param code the line of the user's program that raised the exception in this line; empty if it
   *     is not known, or if the line is no exception
   */
  public record Place(Path file, LogLine line, Optional<CodeLine> code) {}

  static Finding of(FailurePattern signature, Place place) {
    return new Finding(
        signature.id(),
        signature.failure(),
        signature.means(),
        signature.advice(),
        signature.key(),
        Optional.of(place));
  }

  /**
   * Makes the finding of an exception that no signature names.
   *
   * @param refused whether a framework raised it because it refuses what it was given
   */
  static Finding exception(Place place, boolean refused) {
    if (place.code().isPresent() && UNREADABLE.matcher(place.line().text()).matches()) {
      return unreadable(place, place.code().get());
    }
    return new Finding(
        EXCEPTION,
        refused ? "config" : "python-error",
        "The program ended with an exception.",
        Optional.of(
            refused
                ? "A framework refused what it was given: correct what the message names."
                : "Read the traceback above this line."),
        Optional.empty(),
        Optional.of(place));
  }

  /**
   * Makes the finding of an error of our own programs, in their words.
   *
   * @param next the line after it, which may say what to do
   */
  static Finding ours(Place place, String next) {
    String text = place.line().text();
    int end = text.lastIndexOf(" [");
    String code = text.substring(end + 2, text.length() - 1);
    String advice =
        next.startsWith(OUR_ADVICE)
            ? next.substring(OUR_ADVICE.length())
            : "This says more: nexa-slurm explain " + code;
    return new Finding(
        code,
        OURS,
        LogLine.shortened(text.substring(text.indexOf(' ') + 1, end), LONGEST),
        Optional.of(advice),
        Optional.empty(),
        Optional.of(place));
  }

  private static Finding unreadable(Place place, CodeLine code) {
    return new Finding(
        EXCEPTION,
        "python-error",
        "Python cannot read the program.",
        Optional.of(
            "Correct line %s of %s. `python3 -m py_compile %s` checks the file without a run."
                .formatted(code.number(), code.file(), code.file())),
        Optional.empty(),
        Optional.of(place));
  }

  /** Returns whether an environment could not be loaded: a module, conda, or a virtual one. */
  boolean isEnvironment() {
    return failure.equals("missing-file") && key.orElse("").startsWith("software.");
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

  /** Returns the finding as one sentence. The sentence for an exception quotes the exception. */
  String sentence() {
    return id.equals(EXCEPTION) && line.isPresent()
        ? "The program ended with an exception: "
            + LogLine.shortened(
                RANK.matcher(line.get().line().text()).replaceFirst("").strip(), LONGEST)
            + unreadablePlace(line.get())
        : means;
  }

  private static String unreadablePlace(Place place) {
    return UNREADABLE.matcher(place.line().text()).matches()
        ? place.code().map(code -> " (" + code.place() + ")").orElse("")
        : "";
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
