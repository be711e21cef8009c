package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.error.NexaException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** A file that cannot be used, with all its problems. */
public final class ConfigException extends NexaException {
  private static final long serialVersionUID = 1L;

  /**
   * Sorts by file, line and column. Problems without a line, such as problems in {@code --set},
   * come last.
   */
  private static final Comparator<Problem> BY_PLACE =
      Comparator.comparing((Problem problem) -> problem.at().line() == 0)
          .thenComparing(problem -> problem.at().source())
          .thenComparing(problem -> problem.at().line())
          .thenComparing(problem -> problem.at().column());

  /** The most problems that the message lists. */
  private static final int TOLD = 30;

  private final transient List<Problem> problems;
  private final transient Optional<ConfigSource.Found> file;
  private final transient Optional<Values> values;
  private final boolean whole;

  public ConfigException(Problem problem) {
    this(List.of(problem));
  }

  public ConfigException(List<Problem> problems) {
    this(problems, Optional.empty(), Optional.empty(), false);
  }

  /**
   * Creates an exception that holds what could be read of the file.
   *
   * @param values the values without problems
   * @param whole whether the file has no other problem than unknown keys
   */
  public ConfigException(
      List<Problem> problems, ConfigSource.Found file, Values values, boolean whole) {
    this(problems, Optional.of(file), Optional.of(values), whole);
  }

  private ConfigException(
      List<Problem> problems,
      Optional<ConfigSource.Found> file,
      Optional<Values> values,
      boolean whole) {
    super(inOrder(problems).get(0).code(), text(inOrder(problems)));
    this.problems = inOrder(problems);
    this.file = file;
    this.values = values;
    this.whole = whole;
  }

  /** Returns the file; empty if nothing could be read of it. */
  public Optional<ConfigSource.Found> file() {
    return file;
  }

  /** Returns the values without problems; empty if nothing could be read of the file. */
  public Optional<Values> values() {
    return values;
  }

  /** Returns whether the file has no other problem than unknown keys. */
  public boolean isWhole() {
    return whole;
  }

  private static List<Problem> inOrder(List<Problem> problems) {
    return problems.stream().sorted(BY_PLACE).toList();
  }

  /** Returns all problems, in the order of the files. */
  public List<Problem> problems() {
    return problems;
  }

  private static String text(List<Problem> problems) {
    StringBuilder text = new StringBuilder();
    int told = problems.size() <= TOLD + 1 ? problems.size() : TOLD;
    for (Problem problem : problems.subList(0, told)) {
      text.append(text.length() == 0 ? "" : "\n").append(problem);
    }
    if (told < problems.size()) {
      text.append("\nand ").append(problems.size() - told).append(" more");
    }
    return text.toString();
  }
}
