package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.json.JsonObject;
import java.util.List;

/**
 * One problem in a file.
 *
 * @param code its kind
 * @param at its position
 * @param key the path of the key, such as {@code resources.nodes}; empty for the whole file
 * @param message what was expected and what was found; cut after 2000 characters
 */
public record Problem(ErrorCode code, Position at, String key, String message) {
  /** A file with this many problems usually has one mistake. */
  private static final int MOST = 100;

  /** A message may contain a value or name of a megabyte. */
  private static final int LONGEST = 2000;

  public Problem {
    key = begin(key, 200);
    message = begin(message, LONGEST);
  }

  /** Creates a problem of a value that its key does not take. */
  public Problem(Position at, String key, String message) {
    this(ErrorCode.CONFIG_INVALID_VALUE, at, key, message);
  }

  private static String begin(String text, int most) {
    return text.length() <= most ? text : text.substring(0, most) + "...";
  }

  /**
   * Throws if there are 100 problems or more.
   *
   * @throws ConfigException with the problems so far
   */
  static void throwIfTooMany(List<Problem> problems) {
    if (problems.size() >= MOST) {
      throw new ConfigException(problems);
    }
  }

  /**
   * Throws if there is a problem.
   *
   * @throws ConfigException with all problems
   */
  public static void throwIfAny(List<Problem> problems) {
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  /** Returns a copy of another kind. */
  public Problem as(ErrorCode other) {
    return new Problem(other, at, key, message);
  }

  /** Returns a copy with another message. */
  public Problem with(String other) {
    return new Problem(code, at, key, other);
  }

  /** Returns a copy whose message names a point of a sweep. */
  public Problem atPoint(int task, JsonObject point) {
    return with(message + " (point " + task + ": " + point + ")");
  }

  /** Returns a copy whose message names the stages of a pipeline that have the problem. */
  public Problem atStages(List<String> names) {
    String words = names.size() == 1 ? "stage " : "stages ";
    return with(message + " (" + words + String.join(", ", names) + ")");
  }

  /** Returns {@code file:line:column: key: message}. */
  @Override
  public String toString() {
    return at + ": " + (key.isEmpty() ? "" : key + ": ") + message;
  }
}
