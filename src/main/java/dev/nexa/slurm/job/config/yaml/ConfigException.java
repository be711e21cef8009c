package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.error.NexaException;
import java.util.Comparator;
import java.util.List;

/** A file that cannot be used, with all its problems. */
public final class ConfigException extends NexaException {
  private static final long serialVersionUID = 1L;

  /**
   * Sorts by file, line and column. Problems without a line, such as those of {@code --set}, come
   * last.
   */
  private static final Comparator<Problem> BY_PLACE =
      Comparator.comparing((Problem problem) -> problem.at().line() == 0)
          .thenComparing(problem -> problem.at().source())
          .thenComparing(problem -> problem.at().line())
          .thenComparing(problem -> problem.at().column());

  /** The most problems that the message lists. */
  private static final int TOLD = 30;

  private final transient List<Problem> problems;

  public ConfigException(Problem problem) {
    this(List.of(problem));
  }

  public ConfigException(List<Problem> problems) {
    super(inOrder(problems).get(0).code(), text(inOrder(problems)));
    this.problems = inOrder(problems);
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
