package dev.nexa.slurm.storage.sync;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The results of a sync. Several threads write them. */
public final class SyncReport {
  private static final int NAMED = 1000;

  /** The result for a file. */
  public enum Outcome {
    /** It was copied. */
    COPIED,
    /** It was copied, and its object has no digest to check it against. Also counted as COPIED. */
    UNCHECKED,
    /** Its digest is the same on both sides. */
    SAME,
    /** It could not be copied, compared or deleted. */
    FAILED,
    /** The sides differ, and the target's file stayed. */
    CONFLICT,
    /** It differs or is missing; only a comparison counts it. */
    DIFFERING,
    /** Its object has no digest, so nothing was compared; only a comparison counts it. */
    NOT_COMPARED,
    /** It was deleted. */
    DELETED,
    /** It was planned for deletion, which was left out because another file was not synced. */
    NOT_DELETED
  }

  /** A path and a remark about it. */
  public record Named(String path, String reason) {}

  private final Map<Outcome, Long> counts = new EnumMap<>(Outcome.class);
  private final List<Named> named = new ArrayList<>();
  private long bytes;
  private Optional<String> note = Optional.empty();

  synchronized void add(Outcome outcome, long files) {
    counts.merge(outcome, files, Long::sum);
  }

  void add(Outcome outcome) {
    add(outcome, 1);
  }

  synchronized void add(Outcome outcome, String path, String reason) {
    add(outcome, 1);
    if (named.size() < NAMED) {
      named.add(new Named(path, reason));
    }
  }

  synchronized void note(Optional<String> said) {
    note = said;
  }

  /** Returns the note about the store; empty if there is none. It is printed once. */
  public synchronized Optional<String> note() {
    return note;
  }

  synchronized void setBytes(long moved) {
    bytes = moved;
  }

  /** Returns how many files had this outcome. */
  public synchronized long count(Outcome outcome) {
    return counts.getOrDefault(outcome, 0L);
  }

  /** Returns the first 1000 paths that failed, differ, or are conflicts, with the reasons. */
  public synchronized List<Named> named() {
    return List.copyOf(named);
  }

  /** Returns the bytes of the files and parts that were sent or received. */
  public synchronized long bytes() {
    return bytes;
  }
}
