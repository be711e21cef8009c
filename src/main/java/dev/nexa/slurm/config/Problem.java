package dev.nexa.slurm.config;

import dev.nexa.slurm.files.JsonObject;
import java.util.List;

/**
 * One thing wrong in a file.
 *
 * @param at where
 * @param key the key path, such as {@code resources.nodes}; empty for the file as a whole
 * @param message what was expected and what was found
 */
public record Problem(Position at, String key, String message) {
  /** Who has so many has one mistake. */
  private static final int MOST = 100;

  /** A value or a name of a megabyte is told by its beginning. */
  private static final int LONGEST = 2000;

  public Problem {
    key = begin(key, 200);
    message = begin(message, LONGEST);
  }

  private static String begin(String text, int most) {
    return text.length() <= most ? text : text.substring(0, most) + "...";
  }

  /**
   * Ends the reading of a file in which everything is wrong.
   *
   * @throws ConfigException that holds what was found so far
   */
  static void throwIfTooMany(List<Problem> problems) {
    if (problems.size() >= MOST) {
      throw new ConfigException(problems);
    }
  }

  /**
   * Tells them all, if there are any.
   *
   * @throws ConfigException that holds them
   */
  public static void throwIfAny(List<Problem> problems) {
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  /** The same, as it is at one point of a sweep. */
  public Problem atPoint(int task, JsonObject point) {
    return new Problem(at, key, message + " (point " + task + ": " + point + ")");
  }

  /** {@code file:line:column: key: message}. */
  @Override
  public String toString() {
    return at + ": " + (key.isEmpty() ? "" : key + ": ") + message;
  }
}
