package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.job.config.site.PricedUnit;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The kind of a cost line: in the cost file, {@code what} up to its colon. */
public enum CostKind {
  GPU("Compute", "GPU-Hours"),
  CPU("Compute", "Core-Hours"),
  MEMORY("Compute", "GiB-Hours"),
  STORAGE("Storage", "GB-Months"),
  EGRESS("Networking", "GB"),
  /** Tokens of a paid API. */
  API_TOKENS("AI and Machine Learning", "1000000 Tokens"),
  /** Shards of GPUs. */
  SHARD("Compute", "GPU-Shard-Hours"),
  /** Whole nodes. */
  NODE("Compute", "Node-Hours"),
  /** Slurm's billing units. */
  BILLING("Compute", "Billing-Unit-Hours"),
  ENERGY("Other", "kWh"),
  /** Any kind that this version does not know. */
  OTHER("Compute", "");

  private static final CostKind[] ALL = values();

  /** Kinds that an estimate does not include. */
  static final List<CostKind> NOT_RESERVED =
      PricedUnit.BESIDE.stream().map(unit -> of(unit.what())).toList();

  private final String word = name().toLowerCase(Locale.ROOT);
  private final String focusCategory;
  private final String focusUnit;

  CostKind(String focusCategory, String focusUnit) {
    this.focusCategory = focusCategory;
    this.focusUnit = focusUnit;
  }

  /** Returns FOCUS's service category. */
  public String focusCategory() {
    return focusCategory;
  }

  /** Returns the unit as FOCUS writes it; an empty text for {@link #OTHER}. */
  public String focusUnit() {
    return focusUnit;
  }

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
