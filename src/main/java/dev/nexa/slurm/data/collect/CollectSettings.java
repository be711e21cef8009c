package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * The settings of {@code data collect}, as the config's {@code data.collect} has them.
 *
 * @param keepTruncated whether an answer that the token limit cut is kept
 * @param maxFailed the greatest share of requests without an answer; empty for any
 * @param rowsPerFile the most rows of a Parquet file
 * @param requestsPerFile the most requests of a new request file
 * @param maxRow the most bytes of a line
 */
public record CollectSettings(
    boolean keepTruncated,
    Optional<BigDecimal> maxFailed,
    int rowsPerFile,
    int requestsPerFile,
    long maxRow) {

  /** Reads the settings. The config's schema has checked them. */
  public static CollectSettings of(JsonObject json) {
    return new CollectSettings(
        !json.optionalText("truncated").orElse("keep").equals("reject"),
        json.optionalDecimal("max_failed"),
        (int) number(json, "rows_per_file", 100_000),
        (int) number(json, "requests_per_file", 5000),
        number(json, "max_row", 16L << 20));
  }

  private static long number(JsonObject json, String key, long otherwise) {
    return json.optionalDecimal(key).orElse(BigDecimal.valueOf(otherwise)).longValueExact();
  }
}
