package dev.nexa.slurm.config;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.util.Comparator;
import java.util.List;

/** A file that can't be used, with everything that is wrong in it. */
public final class ConfigException extends NexaException {
  private static final long serialVersionUID = 1L;

  /** What has no line, such as {@code --set}, comes last. */
  private static final Comparator<Problem> BY_PLACE =
      Comparator.comparing((Problem problem) -> problem.at().line() == 0)
          .thenComparing(problem -> problem.at().line())
          .thenComparing(problem -> problem.at().column());

  /** More than a screen of them helps nobody. */
  private static final int TOLD = 30;

  private final transient List<Problem> problems;

  public ConfigException(Problem problem) {
    this(List.of(problem));
  }

  public ConfigException(List<Problem> problems) {
    super(ExitCode.USAGE, text(inOrder(problems)));
    this.problems = inOrder(problems);
  }

  private static List<Problem> inOrder(List<Problem> problems) {
    return problems.stream().sorted(BY_PLACE).toList();
  }

  /** Every problem, in the order of the file. */
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
