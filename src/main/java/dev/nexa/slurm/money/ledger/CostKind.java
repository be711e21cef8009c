package dev.nexa.slurm.money.ledger;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The kind of a cost line: in the cost file, {@code what} up to its colon. */
public enum CostKind {
  GPU,
  CPU,
  MEMORY,
  STORAGE,
  EGRESS,
  /** Tokens of a paid API. */
  API_TOKENS,
  /** Shards of GPUs. */
  SHARD,
  /** Whole nodes. */
  NODE,
  /** Slurm's billing units. */
  BILLING,
  /** Any kind that this version does not know. */
  OTHER;

  /** Kinds that an estimate does not include: stored files and outgoing traffic. */
  static final Set<CostKind> NOT_RESERVED = EnumSet.of(STORAGE, EGRESS);

  private static final CostKind[] ALL = values();

  private final String word = name().toLowerCase(Locale.ROOT);

  /** Returns the kind's name in JSON and tables. */
  public String word() {
    return word;
  }

  static CostKind of(@Nullable String word) {
    for (CostKind kind : ALL) {
      if (kind.word.equals(word)) {
        return kind;
      }
    }
    return OTHER;
  }
}
