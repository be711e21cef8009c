package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.FileModes;
import dev.nexa.slurm.base.process.ProcessIdentity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Starts runners, and makes sure that every job that is not over has one. */
record RunnerStarter(
    StateDirectory state, List<String> javaCommand, Map<String, String> environment) {
  private static final DurableFiles FILES = DurableFiles.onDisk();

  /** Options for a process that mostly waits: a small heap, one compiler, no files in /tmp. */
  private static final List<String> FRUGAL =
      List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx256m");

  /**
   * Starts a runner in its own session, so that it outlives this process and its terminal.
   *
   * @throws UncheckedIOException if setsid(1) or Java cannot be started
   */
  ProcessIdentity start(JobDirectory job) {
    List<String> argv = new ArrayList<>(List.of("setsid"));
    argv.addAll(javaCommand);
    argv.addAll(FRUGAL);
    argv.add(JobRunner.class.getName());
    argv.add(job.path().toAbsolutePath().toString());
    ProcessBuilder builder = ProcessGroup.builder(argv, environment, job.log());
    // In the C locale, Java cannot open files whose names are not ASCII.
    builder.environment().put("LC_ALL", "C.UTF-8");
    Process process;
    try {
      FileModes.append(job.log(), Files.exists(job.log())).close();
      process = builder.start();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot start a supervisor for job " + job.id(), failed);
    }
    String line = Liveness.line(process.pid()) + "\n";
    FILES.replace(job.supervisor(), line.getBytes(StandardCharsets.UTF_8), "rw-r--r--");
    return ProcessIdentity.of(process.toHandle());
  }

  /**
   * Repairs a job whose runner died or never started, and starts another runner if there is work
   * left.
   */
  void see(JobDirectory job) {
    Liveness liveness = new Liveness(job);
    if (liveness.attended()) {
      return;
    }
    String us = Liveness.ourLine();
    try (FileLock held = FileLock.acquire(job.lock(), us, liveness::dead, Duration.ZERO)) {
      if (held.holds() && !liveness.expected()) {
        heal(job);
      }
    } catch (FileLock.LockedException taken) {
      // The process that holds the lock repairs the job.
    }
  }

  private void heal(JobDirectory job) {
    JobRunner.recover(job);
    if (!job.history().open() && JobRequest.of(job).isEmpty()) {
      state.markOver(job);
    } else {
      start(job);
    }
  }
}
