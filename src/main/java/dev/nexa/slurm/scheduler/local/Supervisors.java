package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.process.ProcessIdentity;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Starts supervisors, and sees to it that every job that is not over has one. */
final class Supervisors {
  private static final DurableFiles FILES = DurableFiles.onDisk();

  /** A supervisor waits most of the time: a small heap, one compiler, no files in /tmp. */
  private static final List<String> FRUGAL =
      List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx256m");

  private final StateDirectory state;
  private final List<String> javaCommand;
  private final Map<String, String> environment;

  Supervisors(StateDirectory state, List<String> javaCommand, Map<String, String> environment) {
    this.state = state;
    this.javaCommand = List.copyOf(javaCommand);
    this.environment = Map.copyOf(environment);
  }

  /**
   * Starts one in a session of its own, so that it outlives us and our terminal.
   *
   * @throws IOException if there is no setsid(1) or no Java
   */
  ProcessIdentity start(JobDirectory job) throws IOException {
    List<String> argv = new ArrayList<>(List.of("setsid"));
    argv.addAll(javaCommand);
    argv.addAll(FRUGAL);
    argv.add(Supervisor.class.getName());
    argv.add(job.path().toAbsolutePath().toString());
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.environment().clear();
    builder.environment().putAll(environment);
    // In the C locale Java can't name files that are not ASCII.
    builder.environment().put("LC_ALL", "C.UTF-8");
    builder.redirectInput(new File("/dev/null"));
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(job.log().toFile()));
    Process process = builder.start();
    String line = Owner.of(process.pid()).line() + "\n";
    FILES.replace(job.supervisor(), line.getBytes(StandardCharsets.UTF_8), "rw-r--r--");
    return ProcessIdentity.of(process.toHandle());
  }

  /**
   * Makes a job's state true if its supervisor died or never was, and starts another if something
   * is left to run. A job of somebody else is left alone.
   */
  void see(JobDirectory job) {
    Liveness liveness = new Liveness(job);
    if (liveness.attended() || User.owner(job.path()) != User.current().uid()) {
      return;
    }
    String us = Owner.ofThisProcess().line();
    try {
      FileLock lock = FileLock.acquire(job.lock(), us, liveness::dead, Duration.ZERO);
      try {
        if (!liveness.expected()) {
          heal(job);
        }
      } finally {
        lock.close();
      }
    } catch (FileLock.LockedException taken) {
      // Whoever has it does what we would have done.
      return;
    }
  }

  private void heal(JobDirectory job) {
    Recovery.recover(job);
    if (!job.history(job.job()).open() && Request.of(job).isEmpty()) {
      state.markOver(job);
      return;
    }
    try {
      start(job);
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot start a supervisor for job " + job.id(), failed);
    }
  }
}
