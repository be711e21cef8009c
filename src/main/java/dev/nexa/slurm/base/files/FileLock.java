package dev.nexa.slurm.base.files;

import dev.nexa.slurm.base.process.Sleep;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A lock that works between hosts on a network file system.
 *
 * <p>The lock is a hard link, because link(2) is atomic on all of them; fcntl and flock locks may
 * be local to one host (open(2), O_EXCL).
 *
 * <p>The lock file names its owner. If the owner is dead, another process takes the lock over. Only
 * the owner's host can tell whether it is dead.
 */
public final class FileLock implements AutoCloseable {
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final Path lock;
  private final String owner;

  private FileLock(Path lock, String owner) {
    this.lock = lock;
    this.owner = owner;
  }

  /**
   * Acquires the lock. Waits up to {@code patience}.
   *
   * @param owner the name of this process, one line
   * @param dead returns whether a lock file's owner is known to be dead
   * @throws LockedException if another owner still holds the lock after {@code patience}
   */
  public static FileLock acquire(
      Path lock, String owner, Function<String, Boolean> dead, Duration patience) {
    return acquire(lock, owner, dead, patience, () -> {});
  }

  /**
   * Acquires the lock, and cleans up after a dead owner whose lock it takes over.
   *
   * @param owner names this process; one line
   * @param isDead whether the owner named in a lock file is known to be dead
   * @param clear removes unfinished work of the dead owner; runs before its lock is removed
   * @throws LockedException if another owner still holds the lock after {@code patience}
   */
  public static FileLock acquire(
      Path lock,
      String owner,
      Function<String, Boolean> isDead,
      Duration patience,
      Runnable clear) {
    // An owner writes its name before it makes the lock: only a loss of power leaves an empty one.
    Function<String, Boolean> dead = holder -> holder.isEmpty() || isDead.apply(holder);
    long deadline = System.nanoTime() + patience.toNanos();
    String unique = owner + " " + Thread.currentThread().getId() + " " + System.nanoTime();
    while (true) {
      if (tryLink(lock, unique)) {
        return new FileLock(lock, unique);
      }
      Optional<String> holder = holder(lock);
      if (holder.isPresent()
          && dead.apply(holder.get())
          && broken(lock, holder.get(), unique, dead, clear)) {
        continue;
      }
      if (System.nanoTime() > deadline) {
        throw new LockedException(lock, holder.orElse("somebody"));
      }
      Sleep.millis(PAUSE.toMillis(), "waiting for a lock");
    }
  }

  private static boolean tryLink(Path lock, String owner) {
    Path mine = DurableFiles.temporary(lock);
    try {
      try {
        FileModes.write(mine, owner.getBytes(StandardCharsets.UTF_8), FileModes.USUAL);
        Files.createLink(lock, mine);
        return true;
      } catch (FileAlreadyExistsException held) {
        return false;
      } finally {
        Files.deleteIfExists(mine);
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("lock", lock, failed);
    }
  }

  private static Optional<String> holder(Path lock) {
    try {
      return Optional.of(Files.readString(lock));
    } catch (NoSuchFileException released) {
      return Optional.empty();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", lock, failed);
    }
  }

  /**
   * Removes a dead owner's lock; false if another process is doing that.
   *
   * <p>A process must first claim the right to remove this owner's lock, with a second link.
   * Otherwise, of three processes that find the dead owner at once, one could remove the lock that
   * another has just acquired. A claim whose maker is dead is skipped.
   */
  private static boolean broken(
      Path lock, String deadOwner, String me, Function<String, Boolean> dead, Runnable clear) {
    List<Path> claims = new ArrayList<>();
    String before = deadOwner;
    claims.add(claim(lock, before));
    while (!tryLink(claims.get(claims.size() - 1), me)) {
      Optional<String> claimant = holder(claims.get(claims.size() - 1));
      if (claimant.isEmpty() || !dead.apply(claimant.get())) {
        return false;
      }
      before += "\n" + claimant.get();
      claims.add(claim(lock, before));
    }
    try {
      if (holder(lock).equals(Optional.of(deadOwner))) {
        clear.run();
        Files.deleteIfExists(lock);
      }
      for (Path claim : claims) {
        Files.deleteIfExists(claim);
      }
      return true;
    } catch (IOException failed) {
      throw DurableFiles.failure("take over", lock, failed);
    }
  }

  /**
   * Removes a lock whose owner is dead, and the claims that dead processes made to take it over.
   *
   * <p>Does nothing if a live owner holds the lock.
   */
  public static void clear(Path lock, String owner, Function<String, Boolean> dead) {
    Optional<String> holder = Files.exists(lock) ? holder(lock) : Optional.empty();
    boolean left = holder.isPresent() && dead.apply(holder.get());
    if (left || (holder.isEmpty() && !claims(lock).isEmpty())) {
      try (FileLock held = acquire(lock, owner, dead, Duration.ZERO)) {
        held.clearClaims(dead);
      } catch (LockedException taken) {
        // A live process holds the lock and cleans up itself.
      }
    }
  }

  /**
   * Removes the claims that dead processes made to take this lock over. The caller holds the lock.
   *
   * <p>This is safe: a process that saw the dead owner finds a new owner in the lock file.
   */
  public void clearClaims(Function<String, Boolean> dead) {
    for (Path claim : claims(lock)) {
      Optional<String> claimant = holder(claim);
      if (claimant.isPresent() && dead.apply(claimant.get())) {
        try {
          Files.deleteIfExists(claim);
        } catch (IOException failed) {
          throw DurableFiles.failure("delete", claim, failed);
        }
      }
    }
  }

  private static List<Path> claims(Path lock) {
    List<Path> claims = new ArrayList<>();
    String glob = "." + lock.getFileName() + ".claim.*[0-9a-f]";
    try (DirectoryStream<Path> found = Files.newDirectoryStream(lock.resolveSibling(""), glob)) {
      found.forEach(claims::add);
    } catch (IOException none) {
      return claims;
    }
    return claims;
  }

  static Path claim(Path lock, String before) {
    String name = "." + lock.getFileName() + ".claim." + Sha256.of(before).substring(0, 16);
    return lock.resolveSibling(name);
  }

  /** Returns whether this process still holds the lock: no other process took it over. */
  public boolean holds() {
    return holder(lock).equals(Optional.of(owner));
  }

  @Override
  public void close() {
    try {
      if (holds()) {
        Files.deleteIfExists(lock);
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("unlock", lock, failed);
    }
  }

  /**
   * Thrown if another owner holds the lock and is alive, or is on a host that cannot be checked.
   */
  public static final class LockedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String holder;

    LockedException(Path lock, String holder) {
      super(lock + " is held by " + holder);
      this.holder = holder;
    }

    /** Returns the owner that the lock file names; other words follow it. */
    public String holder() {
      return holder;
    }
  }
}
