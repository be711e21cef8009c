package dev.nexa.slurm.scheduler.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Whether somebody runs a job. Of a process on another host, or in another container, only its
 * heartbeat can be seen: the time of the job's {@code supervisor} file.
 */
final class Liveness {
  /** How often a supervisor gives a sign of life. */
  static final Duration HEARTBEAT = Duration.ofSeconds(5);

  /** After so long without one, somebody who can't be asked is taken for dead. */
  private static final Duration SILENCE = Duration.ofMinutes(10);

  private final JobDirectory job;

  Liveness(JobDirectory job) {
    this.job = job;
  }

  /** Whether the job has a supervisor, or one on its way, or somebody who sees to it. */
  boolean attended() {
    return names(job.lock()) || names(job.supervisor());
  }

  /** Whether one was started that may not have the lock yet. */
  boolean expected() {
    return names(job.supervisor());
  }

  /** Whether the lock is still this process's own. */
  boolean lockIsOurs() {
    return read(job.lock()).flatMap(Owner::parse).equals(Optional.of(Owner.ofThisProcess()));
  }

  private boolean names(Path file) {
    return read(file).map(line -> Owner.parse(line).isPresent() && !dead(line)).orElse(false);
  }

  /** For a {@link dev.nexa.slurm.files.FileLock}. A text that names nobody is not known dead. */
  boolean dead(String line) {
    Optional<Owner> owner = Owner.parse(line);
    if (owner.isEmpty()) {
      return false;
    }
    return !owner.get().alive().orElseGet(() -> lastSign().plus(SILENCE).isAfter(Instant.now()));
  }

  /** When the supervisor last gave a sign of life; now, if there is no telling. */
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
