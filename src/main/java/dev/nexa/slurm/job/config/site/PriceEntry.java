package dev.nexa.slurm.job.config.site;

import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.Optional;

/**
 * Prices that apply to some runs or on some days: the book's own, and one entry for each of its
 * {@code overrides}.
 *
 * @param at the entry's position in the file
 * @param cluster the cluster profile that it applies to; empty for all
 * @param partition the partition that it applies to; empty for all
 * @param account the Slurm account that it applies to; empty for all
 * @param validFrom the first day (UTC) when it applies; empty if it has no beginning
 * @param validUntil the last day (UTC) when it applies; empty if it has no end
 * @param discount taken off every price
 */
public record PriceEntry(
    Position at,
    Optional<String> cluster,
    Optional<String> partition,
    Optional<String> account,
    Optional<LocalDate> validFrom,
    Optional<LocalDate> validUntil,
    Prices prices,
    Optional<Discount> discount) {

  /**
   * The price of a part of a GPU (a MIG slice or a shard) as a fraction of the whole GPU's price.
   *
   * @param of the type of the whole GPU
   * @param part the fraction as written: {@code 1/7}
   * @param source where the share comes from
   */
  public record Share(String of, String part, String source) {
    /** Pattern of a fraction. */
    static final String FORM = "[1-9][0-9]{0,5}/[1-9][0-9]{0,5}";

    /** Returns the numerator. */
    public BigDecimal above() {
      return new BigDecimal(part.substring(0, part.indexOf('/')));
    }

    /** Returns the denominator. */
    public BigDecimal below() {
      return new BigDecimal(part.substring(part.indexOf('/') + 1));
    }
  }

  /** A discount in percent, 0 to 100, and its source. */
  public record Discount(BigDecimal percent, String source) {}

  /** Reads the book's own prices, or one of its overrides. */
  static PriceEntry from(Values values) {
    Values match = values.section("match");
    Values off = values.section("discount");
    return new PriceEntry(
        values.at(""),
        match.optionalText("cluster"),
        match.optionalText("partition"),
        match.optionalText("account"),
        values.optional("valid_from", LocalDate.class),
        values.optional("valid_until", LocalDate.class),
        Prices.from(values),
        values.has("discount")
            ? Optional.of(new Discount(off.decimal("percent"), off.text("source")))
            : Optional.empty());
  }

  /** Returns whether the entry applies to runs on this cluster, partition and account. */
  public boolean matches(
      String ofCluster, Optional<String> ofPartition, Optional<String> ofAccount) {
    return (cluster.isEmpty() || cluster.get().equals(ofCluster))
        && (partition.isEmpty() || partition.equals(ofPartition))
        && (account.isEmpty() || account.equals(ofAccount));
  }

  /** Returns whether the entry is valid on that day (UTC). */
  public boolean validOn(LocalDate day) {
    return (validFrom.isEmpty() || !day.isBefore(validFrom.get()))
        && (validUntil.isEmpty() || !day.isAfter(validUntil.get()));
  }

  /**
   * Returns the entry's precedence over other entries that apply. An account outweighs a partition,
   * and a partition outweighs a cluster.
   */
  public int weight() {
    return (account.isPresent() ? 4 : 0)
        + (partition.isPresent() ? 2 : 0)
        + (cluster.isPresent() ? 1 : 0);
  }
}
