package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.files.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Starts the attempts of one job. */
final class TaskStarter {
  private final JobDirectory directory;
  private final JobLog log;
  private final Job job;
  private final List<String> prefix;

  TaskStarter(JobDirectory directory, JobLog log) {
    this.directory = directory;
    this.log = log;
    this.job = log.job();
    this.prefix = resetsSignals() ? List.of("--default-signal") : List.of();
  }

  /**
   * Signals ignored by whoever submitted (nohup, a shell's background job) are not to be ignored by
   * the script: slurmstepd resets them. A shell can't, and env(1) only since coreutils 8.31.
   */
  private static boolean resetsSignals() {
    try {
      Process env =
          new ProcessBuilder("env", "--default-signal", "true")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      return env.waitFor() == 0;
    } catch (IOException noEnv) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** What came of it: a running task, or the exit code of one that could not be started. */
  record Outcome(Optional<RunningTask> task, String exitCode) {
    private static Outcome failed(String exitCode) {
      return new Outcome(Optional.empty(), exitCode);
    }
  }

  Outcome start(Attempt attempt, int slot) {
    OutputFiles files;
    try {
      files = OutputFiles.open(job, attempt);
    } catch (IOException unwritable) {
      System.err.println(job.taskId(attempt.task()) + ": " + unwritable);
      return Outcome.failed(ExitStatus.NO_OUTPUT);
    }
    Path folder = workingDirectory(files);
    Interpreter interpreter = Interpreter.of(script(), folder);
    Optional<Interpreter.Problem> problem = interpreter.problem(directory.script());
    if (problem.isPresent()) {
      OutputFiles.append(files.error(), problem.get().line() + "\n");
      return Outcome.failed(ExitStatus.exited(problem.get().errno()).text());
    }
    String mark = directory.mark(attempt);
    List<String> command = new ArrayList<>(prefix);
    command.addAll(interpreter.command(directory.script(), job.submission().arguments()));
    try {
      TaskProcess process =
          TaskProcess.start(
              command,
              job.submission().umask(),
              new TaskEnvironment(job, attempt, slot).variables(mark),
              folder,
              files,
              mark);
      return new Outcome(
          Optional.of(new RunningTask(log, attempt, slot, process, files.error())), "");
    } catch (IOException failed) {
      OutputFiles.append(files.error(), "slurmstepd: error: " + failed.getMessage() + "\n");
      return Outcome.failed(ExitStatus.exited(1).text());
    }
  }

  private String script() {
    return DurableFiles.read(directory.script());
  }

  /** A folder that is not there is replaced, as slurmstepd does it. */
  private Path workingDirectory(OutputFiles files) {
    Path wanted = job.directory();
    if (Files.isDirectory(wanted) && Files.isExecutable(wanted)) {
      return wanted;
    }
    String why = Files.exists(wanted) ? "Permission denied" : "No such file or directory";
    OutputFiles.append(
        files.error(),
        "slurmstepd: error: couldn't chdir to `%s': %s: going to /tmp instead%n"
            .formatted(wanted, why));
    return Path.of("/tmp");
  }
}
