package dev.nexa.slurm.run.audit;

import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The rows that a data stage counted: {@code rows_in} of a manifest's metrics is the sum of {@code
 * rows_out}, {@code rows_rejected} and {@code rows_missing}, so no row was lost in silence.
 */
final class RowCounts {
  private static final List<String> PARTS = List.of("rows_out", "rows_rejected", "rows_missing");

  private RowCounts() {}

  /**
   * Returns a sentence about a sum that is wrong.
   *
   * @param metrics the metrics of all tasks together; a count that is missing is zero
   * @return empty if the sum is right, or if the metrics count no rows
   */
  static Optional<String> difference(JsonObject metrics) {
    Optional<BigDecimal> in = count(metrics, "rows_in");
    if (in.isEmpty()) {
      return Optional.empty();
    }
    Map<String, BigDecimal> counts = new LinkedHashMap<>();
    PARTS.forEach(part -> count(metrics, part).ifPresent(count -> counts.put(part, count)));
    BigDecimal sum = counts.values().stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    List<String> parts =
        counts.entrySet().stream()
            .map(part -> part.getKey() + " " + part.getValue().toPlainString())
            .toList();
    return in.get().compareTo(sum) == 0
        ? Optional.empty()
        : Optional.of(
            "metrics: rows_in is "
                + in.get().toPlainString()
                + ", but "
                + (parts.isEmpty() ? "no other rows are counted" : String.join(" + ", parts))
                + (parts.size() > 1 ? " is " + sum.toPlainString() : ""));
  }

  private static Optional<BigDecimal> count(JsonObject metrics, String name) {
    return metrics.members().get(name) instanceof Number
        ? metrics.optionalDecimal(name)
        : Optional.empty();
  }
}
