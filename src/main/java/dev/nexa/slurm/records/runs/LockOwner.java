package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.process.ProcessIdentity;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;

/** Names the holder of a workspace's lock, and decides when a holder is dead. */
public final class LockOwner {
  /**
   * A holder on another host cannot be checked and counts as dead after this time, which is longer
   * than any sbatch call.
   */
  private static final Duration ABANDONED = Duration.ofHours(1);

  private static final int PARTS = 4;

  private LockOwner() {}

  /** Returns the name of this process as a holder: host, pid, start time and the time now. */
  public static String me() {
    ProcessIdentity me = ProcessIdentity.ofThisProcess();
    return me.host() + " " + me.pid() + " " + me.started() + " " + Instant.now();
  }

  /**
   * Takes a lock as this process.
   *
   * @param clear removes unfinished work of a dead holder; runs before its lock is removed
   * @return empty if another process still holds the lock
   */
  public static Optional<FileLock> take(Path lock, Duration patience, Runnable clear) {
    try {
      return Optional.of(FileLock.acquire(lock, me(), LockOwner::dead, patience, clear));
    } catch (FileLock.LockedException held) {
      return Optional.empty();
    }
  }

  /**
   * Returns whether the holder no longer runs. A holder on another host counts as dead after an
   * hour. A name that cannot be read is nobody's: a process writes its whole name before it makes
   * the lock, so only a loss of power cuts it.
   */
  public static boolean dead(String owner) {
    try {
      String[] part = owner.split(" ", -1);
      boolean old = Instant.parse(part[3]).plus(ABANDONED).isBefore(Instant.now());
      return holder(part).alive().map(alive -> !alive).orElse(old);
    } catch (IndexOutOfBoundsException | DateTimeException | NumberFormatException cut) {
      return true;
    }
  }

  /**
   * Returns whether the holder is known not to run any more. One on another host counts as alive:
   * what it does can take days.
   */
  public static boolean provenDead(String owner) {
    try {
      return !holder(owner.split(" ", -1)).alive().orElse(true);
    } catch (IndexOutOfBoundsException | DateTimeException | NumberFormatException cut) {
      return true;
    }
  }

  private static ProcessIdentity holder(String[] part) {
    return new ProcessIdentity(part[0], Long.parseLong(part[1]), Instant.parse(part[2]));
  }

  /** Returns {@code process 17 on host login1, since 2026-01-02 03:04}, for a message. */
  public static String words(String owner) {
    String[] part = owner.split(" ", -1);
    if (part.length < PARTS) {
      return owner;
    }
    String since =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm", Locale.ROOT)
            .withZone(ZoneId.systemDefault())
            .format(Instant.parse(part[3]));
    return "process " + part[1] + " on host " + part[0] + ", since " + since;
  }
}
