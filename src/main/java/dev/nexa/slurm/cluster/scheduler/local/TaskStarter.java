package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
   * Returns whether env(1) can reset ignored signals, which it can since coreutils 8.31. Signals
   * that the submitter's process ignores (nohup, a shell's background job) must not be ignored by
   * the script; slurmstepd resets them too.
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

  /**
   * The result of a start.
   *
   * @param task the running task; empty if it could not be started
   * @param exitCode sacct's exit code if it could not be started
   */
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
    Path again = directory.again(attempt);
    Map<String, String> environment = new TaskEnvironment(job, attempt, slot).variables(mark);
    environment.put(TaskEnvironment.AGAIN, again.toAbsolutePath().toString());
    List<String> command = new ArrayList<>(prefix);
    command.addAll(interpreter.command(directory.script(), job.submission().arguments()));
    try {
      TaskProcess process =
          TaskProcess.start(command, job.submission().umask(), environment, folder, files, mark);
      return new Outcome(
          Optional.of(new RunningTask(log, attempt, slot, process, files.error(), again)), "");
    } catch (IOException failed) {
      OutputFiles.append(files.error(), "slurmstepd: error: " + failed.getMessage() + "\n");
      return Outcome.failed(ExitStatus.exited(1).text());
    }
  }

  private String script() {
    return DurableFiles.read(directory.script());
  }

  /** Returns the job's folder, or /tmp if it cannot be used, as slurmstepd does. */
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
