package dev.nexa.slurm.process;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A program to run: never a shell line.
 *
 * @param argv the program and its arguments, each passed on as it is
 * @param environment the whole environment of the child
 * @param directory its working directory
 * @param timeout after this it is killed
 */
public record Command(
    List<String> argv, Map<String, String> environment, Path directory, Duration timeout) {
  public Command {
    argv = List.copyOf(argv);
    environment = Map.copyOf(environment);
  }

  /** The program's name. */
  public String program() {
    return argv.get(0);
  }
}
