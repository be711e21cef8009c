package dev.nexa.slurm.storage.sync;

import java.util.ArrayList;
import java.util.List;

/** What a sync did. Several threads write it. */
public final class SyncReport {
  private static final int NAMED = 1000;

  /** A path and what is to be said of it. */
  public record Named(String path, String reason) {}

  private final List<Named> named = new ArrayList<>();
  private long copied;
  private long unchecked;
  private long same;
  private long failed;
  private long conflicts;
  private long differing;
  private long deleted;
  private long notDeleted;
  private long bytes;

  synchronized void addCopied(boolean checked) {
    copied++;
    unchecked += checked ? 0 : 1;
  }

  synchronized void addSame() {
    same++;
  }

  synchronized void addFailed(String path, String reason) {
    failed++;
    name(path, reason);
  }

  synchronized void addConflict(String path) {
    conflicts++;
    name(path, "is newer or was changed at the target; it was not replaced");
  }

  synchronized void addDiffering(String path, String reason) {
    differing++;
    name(path, reason);
  }

  synchronized void addDeleted() {
    deleted++;
  }

  synchronized void addNotDeleted(long files) {
    notDeleted += files;
  }

  synchronized void setBytes(long moved) {
    bytes = moved;
  }

  private void name(String path, String reason) {
    if (named.size() < NAMED) {
      named.add(new Named(path, reason));
    }
  }

  /** Returns the first 1000 paths that failed, differ, or are conflicts. */
  public synchronized List<Named> named() {
    return List.copyOf(named);
  }

  /** Returns the files that were copied. */
  public synchronized long copied() {
    return copied;
  }

  /** Returns the copied files whose object has no digest to check them against. */
  public synchronized long unchecked() {
    return unchecked;
  }

  /** Returns the files that were found to be equal by their digests. */
  public synchronized long same() {
    return same;
  }

  /** Returns the files that could not be copied, compared or deleted. */
  public synchronized long failed() {
    return failed;
  }

  /** Returns the files that stayed because the target's are newer or changed. */
  public synchronized long conflicts() {
    return conflicts;
  }

  /** Returns the files that differ or are missing; only a comparison counts them. */
  public synchronized long differing() {
    return differing;
  }

  /** Returns the deleted files. */
  public synchronized long deleted() {
    return deleted;
  }

  /** Returns the planned deletions that were left out because a file failed. */
  public synchronized long notDeleted() {
    return notDeleted;
  }

  /** Returns the bytes that were sent or received, also those that were sent twice. */
  public synchronized long bytes() {
    return bytes;
  }
}
