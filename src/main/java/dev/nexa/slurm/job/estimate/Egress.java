package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * The bytes that a sync stage sends out of the cluster at most. No money is reserved for them: they
 * are charged when the run has ended, as storage is.
 *
 * @param from the folder or file
 * @param files the number of its files; 0 if it is not known
 * @param bytes their size; empty if it is not known yet
 * @param unknown why it is not known; empty if it is
 */
public record Egress(String from, long files, Optional<Long> bytes, String unknown) {
  /** Returns the egress of files that are there. */
  public static Egress of(String from, long files, long bytes) {
    return new Egress(from, files, Optional.of(bytes), "");
  }

  /**
   * Returns an egress that is not known yet.
   *
   * @param why the end of a sentence that begins with the folder
   */
  public static Egress unknown(String from, String why) {
    return new Egress(from, 0, Optional.empty(), why);
  }

  /** Returns the priced line; empty if the size is not known, or if egress has no price. */
  public Optional<CostLine> line(Rates rates) {
    return bytes.isPresent() ? rates.egress(BigDecimal.valueOf(bytes.get())) : Optional.empty();
  }

  /** Returns a sentence without a full stop. */
  public String sentence(Rates rates) {
    if (bytes.isEmpty()) {
      return "egress is not known yet: " + from + ": " + unknown;
    }
    Optional<CostLine> line = line(rates);
    String most =
        "egress of at most %s in %s of %s"
            .formatted(Memory.rounded(bytes.get()), Plural.of(files, "file"), from);
    return line.isEmpty()
        ? most + "; the price book " + rates.book() + " has no egress_gb, so it is not charged"
        : "%s: %s, which is not reserved; what was sent is charged when the run has ended"
            .formatted(most, line.get().amount().atMost(CostLine.unrounded(List.of(line.get()))));
  }

  JsonObject toJson(Rates rates) {
    JsonObject json = new JsonObject().with("from", from);
    if (bytes.isEmpty()) {
      return json.with("bytes", null).with("unknown", unknown).with("lines", List.of());
    }
    return json.with("bytes", bytes.get())
        .with("files", files)
        .with("lines", CostLine.toJson(line(rates).stream().toList()));
  }
}
