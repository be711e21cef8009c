package dev.nexa.slurm.cluster.scheduler.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Decides whether a process runs a job. For a process on another host, or in another container,
 * only its heartbeat is visible: the modification time of the job's {@code supervisor} file.
 */
final class Liveness {
  /** Interval of a runner's heartbeat. */
  static final Duration HEARTBEAT = Duration.ofSeconds(5);

  /** A process that cannot be checked counts as dead after this time without a heartbeat. */
  private static final Duration SILENCE = Duration.ofMinutes(10);

  private final JobDirectory job;

  Liveness(JobDirectory job) {
    this.job = job;
  }

  /**
   * Returns whether the job has a runner, a runner that is starting, or a process that repairs it.
   */
  boolean attended() {
    return names(job.lock()) || names(job.supervisor());
  }

  /** Returns whether a runner was started and lives; it may not have the lock yet. */
  boolean expected() {
    return names(job.supervisor());
  }

  /** Returns whether this process still holds the lock. */
  boolean lockIsOurs() {
    return read(job.lock())
        .flatMap(ProcessOwner::parse)
        .equals(Optional.of(ProcessOwner.ofThisProcess()));
  }

  private boolean names(Path file) {
    return read(file)
        .map(line -> ProcessOwner.parse(line).isPresent() && !dead(line))
        .orElse(false);
  }

  /**
   * Returns whether the owner in a {@link dev.nexa.slurm.base.files.FileLock}'s text is dead; false
   * if the text names no owner.
   */
  boolean dead(String line) {
    Optional<ProcessOwner> owner = ProcessOwner.parse(line);
    if (owner.isEmpty()) {
      return false;
    }
    return !owner.get().alive().orElseGet(() -> lastSign().plus(SILENCE).isAfter(Instant.now()));
  }

  /** Returns the time of the last heartbeat; now, if it cannot be read. */
  Instant lastSign() {
    try {
      return Files.getLastModifiedTime(job.supervisor()).toInstant();
    } catch (IOException unknown) {
      return Instant.now();
    }
  }

  void giveSign() {
    try {
      Files.setLastModifiedTime(job.supervisor(), FileTime.from(Instant.now()));
    } catch (IOException notThere) {
      System.err.println("no heartbeat: " + notThere);
    }
  }

  private static Optional<String> read(Path file) {
    try {
      return Optional.of(Files.readString(file));
    } catch (IOException nobody) {
      return Optional.empty();
    }
  }
}
