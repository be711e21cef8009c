package dev.nexa.slurm.estimate;

import dev.nexa.slurm.files.JsonObject;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * How much data one task of a run goes through, over all its epochs, as far as it is known.
 *
 * @param tokens that it trains on or writes
 * @param bytes of its data file
 */
public record DataSize(Optional<Long> tokens, Optional<Long> bytes) {
  public static final DataSize UNKNOWN = new DataSize(Optional.empty(), Optional.empty());

  /** What estimate.json keeps; {@link #UNKNOWN} where it says nothing. */
  public static DataSize fromJson(Optional<JsonObject> json) {
    return json.isEmpty()
        ? UNKNOWN
        : new DataSize(whole(json.get(), "tokens"), whole(json.get(), "bytes"));
  }

  private static Optional<Long> whole(JsonObject json, String name) {
    Optional<BigDecimal> number = json.optionalDecimal(name);
    return number.isPresent() ? Optional.of(number.get().longValue()) : Optional.empty();
  }

  JsonObject toJson() {
    return new JsonObject().withOptional("tokens", tokens).withOptional("bytes", bytes);
  }

  boolean known() {
    return tokens.isPresent() || bytes.isPresent();
  }

  /** Whether both tell the same of themselves. */
  boolean comparable(DataSize other) {
    return isSome(tokens, other.tokens) || isSome(bytes, other.bytes);
  }

  private static boolean isSome(Optional<Long> one, Optional<Long> other) {
    return one.isPresent() && other.isPresent() && one.get() > 0 && other.get() > 0;
  }

  /** How many times the other's it is; 1 where that is not known. */
  double times(DataSize other) {
    if (isSome(tokens, other.tokens)) {
      return (double) tokens.get() / other.tokens.get();
    }
    return isSome(bytes, other.bytes) ? (double) bytes.get() / other.bytes.get() : 1;
  }
}
