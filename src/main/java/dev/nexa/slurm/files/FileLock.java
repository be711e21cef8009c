package dev.nexa.slurm.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A lock that works between hosts on a network file system: a hard link to a file of our own, which
 * link(2) makes atomically everywhere, while fcntl and flock locks may be local to one host
 * (open(2), O_EXCL).
 *
 * <p>The lock file names its owner. A lock whose owner is dead is taken over; whether it is, only
 * its own host can say.
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
   * Waits for the lock.
   *
   * @param owner names this process; one line
   * @param dead whether the owner named in a lock file is known to be dead
   * @throws LockedException if somebody else still holds it after {@code patience}
   */
  public static FileLock acquire(
      Path lock, String owner, Function<String, Boolean> dead, Duration patience) {
    return acquire(lock, owner, dead, patience, () -> {});
  }

  /**
   * The same for what a dead owner may have left half done.
   *
   * @param clear clears that away, while nobody has the lock but the dead
   */
  public static FileLock acquire(
      Path lock, String owner, Function<String, Boolean> dead, Duration patience, Runnable clear) {
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
      pause();
    }
  }

  private static boolean tryLink(Path lock, String owner) {
    Path mine =
        lock.resolveSibling(
            "." + lock.getFileName() + "." + owner.replaceAll("[^A-Za-z0-9.]", "_"));
    try {
      try {
        Files.write(mine, owner.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE_NEW);
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
   * Removes the dead owner's lock; false if somebody else is at it. Only who has claimed this very
   * owner's lock, by a link again, may remove it: without that, of three who find it at once one
   * may remove what another has just taken. A claim whose own maker died is passed over.
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

  static Path claim(Path lock, String before) {
    String name = "." + lock.getFileName() + ".claim." + Sha256.of(before).substring(0, 16);
    return lock.resolveSibling(name);
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE.toMillis());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for a lock", interrupted);
    }
  }

  /** Whether the lock is still ours: nobody took it for dead. */
  public boolean holds() {
    Optional<String> holder = holder(lock);
    return holder.isPresent() && holder.get().equals(owner);
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

  /** Somebody else holds the lock and lives, or can't be asked. */
  public static final class LockedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LockedException(Path lock, String holder) {
      super(lock + " is held by " + holder);
    }
  }
}
