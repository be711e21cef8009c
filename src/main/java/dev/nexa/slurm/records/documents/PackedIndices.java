package dev.nexa.slurm.records.documents;

import java.util.Optional;

/**
 * The results of the indices of a run with {@code array.pack}, which runs several in each task.
 *
 * @param indices how many there are
 * @param completed how many have ended with status 0
 * @param failed how many have ended in any other way, and not with 0 since
 * @param firstFailed the first of these, such as {@code 3,17-19}; empty if none failed
 */
public record PackedIndices(int indices, int completed, int failed, Optional<String> firstFailed) {
  /** The sum of no indices. */
  public static final PackedIndices NONE = new PackedIndices(0, 0, 0, Optional.empty());

  /** More numbers tell a reader nothing new. */
  public static final int MOST_NAMED = 10;

  /** Returns a copy that knows how many indices the run has. */
  public PackedIndices among(int indices) {
    return new PackedIndices(indices, completed, failed, firstFailed);
  }

  /** Returns a sentence: {@code 97 of 100 indices ended well; 3 failed: 3,17-18}. */
  public String sentence() {
    return completed
        + " of "
        + indices
        + " indices ended well"
        + (failed == 0 ? "" : "; " + failed + " failed: " + firstFailed.orElse(""))
        + (failed > MOST_NAMED ? " …" : "");
  }
}
