package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.json.JsonObject;
import java.util.Optional;

/**
 * The amount of data that a task of a run processes, over all its epochs.
 *
 * @param tokens the tokens that it trains on or generates; empty if unknown
 * @param bytes the size of its data file; empty if unknown
 */
public record DataSize(Optional<Long> tokens, Optional<Long> bytes) {
  /** Neither tokens nor bytes are known. */
  public static final DataSize UNKNOWN = new DataSize(Optional.empty(), Optional.empty());

  /** Reads the size from estimate.json; {@link #UNKNOWN} if it has none. */
  public static DataSize fromJson(Optional<JsonObject> json) {
    return json.isEmpty()
        ? UNKNOWN
        : new DataSize(json.get().optionalNumber("tokens"), json.get().optionalNumber("bytes"));
  }

  JsonObject toJson() {
    return new JsonObject().withOptional("tokens", tokens).withOptional("bytes", bytes);
  }

  boolean known() {
    return tokens.isPresent() || bytes.isPresent();
  }

  /** Returns whether both sizes have tokens, or both have bytes. */
  boolean comparable(DataSize other) {
    return isSome(tokens, other.tokens) || isSome(bytes, other.bytes);
  }

  private static boolean isSome(Optional<Long> one, Optional<Long> other) {
    return one.isPresent() && other.isPresent() && one.get() > 0 && other.get() > 0;
  }

  /** Returns this size as a multiple of the other; 1 if they cannot be compared. */
  double times(DataSize other) {
    if (isSome(tokens, other.tokens)) {
      return (double) tokens.get() / other.tokens.get();
    }
    return isSome(bytes, other.bytes) ? (double) bytes.get() / other.bytes.get() : 1;
  }
}
