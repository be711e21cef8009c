package dev.nexa.slurm.config;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.util.List;

/** A file that can't be used, with everything that is wrong in it. */
public final class ConfigException extends NexaException {
  private static final long serialVersionUID = 1L;

  private final transient List<Problem> problems;

  ConfigException(List<Problem> problems) {
    super(ExitCode.USAGE, text(problems));
    this.problems = List.copyOf(problems);
  }

  /** Every problem, in the order of the file. */
  public List<Problem> problems() {
    return problems;
  }

  private static String text(List<Problem> problems) {
    StringBuilder text = new StringBuilder();
    for (Problem problem : problems) {
      text.append(text.length() == 0 ? "" : "\n").append(problem);
    }
    return text.toString();
  }
}
