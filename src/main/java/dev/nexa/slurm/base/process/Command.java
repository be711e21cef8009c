package dev.nexa.slurm.base.process;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A program to run, without a shell.
 *
 * @param argv the program and its arguments, each passed on unchanged
 * @param environment the complete environment of the child
 * @param directory the child's working directory
 * @param timeout the child is killed after this time
 */
public record Command(
    List<String> argv, Map<String, String> environment, Path directory, Duration timeout) {
  public Command {
    argv = List.copyOf(argv);
    environment = Map.copyOf(environment);
  }

  /** Returns the program's name or path: the first element of {@code argv}. */
  public String program() {
    return argv.get(0);
  }
}
