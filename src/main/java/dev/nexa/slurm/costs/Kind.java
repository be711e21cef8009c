package dev.nexa.slurm.costs;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a line of a bill is for; the cost file's {@code what} up to its colon. */
public enum Kind {
  GPU,
  CPU,
  MEMORY,
  STORAGE,
  EGRESS,
  /** Shards of GPUs. */
  SHARD,
  /** Whole nodes. */
  NODE,
  /** Slurm's billing units. */
  BILLING,
  /** What a later version prices, and this one has no column for. */
  OTHER;

  private static final Kind[] ALL = values();

  private final String word = name().toLowerCase(Locale.ROOT);

  /** The kind's name in JSON and tables. */
  public String word() {
    return word;
  }

  static Kind of(@Nullable String word) {
    for (Kind kind : ALL) {
      if (kind.word.equals(word)) {
        return kind;
      }
    }
    return OTHER;
  }
}
