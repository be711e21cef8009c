package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.files.FileLock;
import java.nio.file.Path;
import java.time.Duration;

/** The process that runs one job, detached from whoever submitted it. */
public final class Supervisor {
  /** Whoever started us may still hold the lock for a moment. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private Supervisor() {}

  /**
   * Runs the job in the folder that is named, to its end. One that has a supervisor is left to it.
   */
  public static void main(String[] args) throws InterruptedException {
    JobDirectory directory = JobDirectory.at(Path.of(args[0]));
    Liveness liveness = new Liveness(directory);
    String us = Owner.ofThisProcess().line();
    FileLock lock;
    try {
      lock = FileLock.acquire(directory.lock(), us, liveness::dead, PATIENCE);
    } catch (FileLock.LockedException taken) {
      System.err.println(taken.getMessage());
      return;
    }
    try {
      Recovery.recover(directory);
      new Supervision(directory, liveness).run();
    } finally {
      lock.close();
    }
  }
}
