package dev.nexa.slurm.cluster.scheduler.local;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The program in a script's first line. It is started with the script as its argument, as execve(2)
 * does, so that a script on a file system mounted noexec also runs.
 *
 * @param program the path after {@code #!}
 * @param argument the rest of the line, which is one argument even if it has several words
 */
record Interpreter(Path program, Optional<String> argument) {
  /** errno values of execve(2). */
  private static final int ENOENT = 2;

  private static final int EACCES = 13;

  static Interpreter of(String script, Path directory) {
    int newline = script.indexOf('\n');
    String line = (newline < 0 ? script : script.substring(0, newline)).substring(2).strip();
    String[] parts = line.split("[ \t]+", 2);
    Path program = directory.resolve(parts[0]);
    return new Interpreter(program, parts.length > 1 ? Optional.of(parts[1]) : Optional.empty());
  }

  /** Returns why the interpreter cannot run; empty if it can. */
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

  /** Returns the complete command line. */
  List<String> command(Path script, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(program.toString());
    argument.ifPresent(command::add);
    command.add(script.toString());
    command.addAll(arguments);
    return command;
  }

  /**
   * The reason why execve fails.
   *
   * @param errno the exit code of the task
   * @param message the message of slurmstepd
   */
  record Problem(int errno, String message) {
    /** Returns the line that slurmstepd writes to the job's error file. */
    String line() {
      return "slurmstepd: error: execve(): " + message;
    }
  }
}
