package dev.nexa.slurm.scheduler.local;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The program of a script's first line. It is called with the script as execve(2) would call it, so
 * that the script also runs from a file system mounted noexec.
 *
 * @param program the path after {@code #!}
 * @param argument the rest of the line, which is one argument however many words it has
 */
record Interpreter(Path program, Optional<String> argument) {
  /** errno of execve(2). */
  private static final int ENOENT = 2;

  private static final int EACCES = 13;

  static Interpreter of(String script, Path directory) {
    int newline = script.indexOf('\n');
    String line = (newline < 0 ? script : script.substring(0, newline)).substring(2).strip();
    String[] parts = line.split("[ \t]+", 2);
    Path program = directory.resolve(parts[0]);
    return new Interpreter(program, parts.length > 1 ? Optional.of(parts[1]) : Optional.empty());
  }

  /** Why it can't be run. */
  Optional<Problem> problem(Path script) {
    if (!Files.exists(program)) {
      return Optional.of(
          new Problem(ENOENT, "bad interpreter(" + program + "): No such file or directory"));
    }
    if (Files.isDirectory(program) || !Files.isExecutable(program)) {
      return Optional.of(new Problem(EACCES, script + ": Permission denied"));
    }
    return Optional.empty();
  }

  /** The whole command. */
  List<String> command(Path script, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(program.toString());
    argument.ifPresent(command::add);
    command.add(script.toString());
    command.addAll(arguments);
    return command;
  }

  /**
   * Why execve fails.
   *
   * @param errno what the task then exits with
   */
  record Problem(int errno, String message) {
    /** The line that slurmstepd leaves in the job's error file. */
    String line() {
      return "slurmstepd: error: execve(): " + message;
    }
  }
}
