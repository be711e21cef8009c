package dev.nexa.slurm.config;

import dev.nexa.slurm.config.PriceBook.Price;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Prices of a price book that hold for some runs, or on some days: the book's own, and one for each
 * of its {@code overrides}.
 *
 * @param at where it is written
 * @param cluster the profile it is for; empty for all
 * @param partition the partition it is for; empty for all
 * @param account the Slurm account it is for; empty for all
 * @param validFrom the first day, UTC; empty for ever before
 * @param validUntil the last day, UTC; empty for ever after
 * @param gpuHour by GPU type
 * @param gpuShares by GPU type, a part of another type's price
 * @param shardHour by the GPU type that is shared
 * @param shardShares by the GPU type that is shared, a part of a GPU's price
 * @param nodeHour for a whole node, whatever it holds
 * @param billingHour for one of Slurm's billing units
 * @param discount taken off every price
 */
public record PriceEntry(
    Position at,
    Optional<String> cluster,
    Optional<String> partition,
    Optional<String> account,
    Optional<LocalDate> validFrom,
    Optional<LocalDate> validUntil,
    Map<String, Price> gpuHour,
    Map<String, Share> gpuShares,
    Map<String, Price> shardHour,
    Map<String, Share> shardShares,
    Optional<Price> cpuHour,
    Optional<Price> memoryGibHour,
    Optional<Price> nodeHour,
    Optional<Price> billingHour,
    Optional<Price> storageGbMonth,
    Optional<Discount> discount) {

  /**
   * A part of a GPU, priced by the whole: a MIG slice, a shard.
   *
   * @param of the whole's type
   * @param part as written: {@code 1/7}
   */
  public record Share(String of, String part, String source) {
    /** The form of a part. */
    static final String FORM = "[1-9][0-9]{0,5}/[1-9][0-9]{0,5}";

    /** What stands above the line of the fraction. */
    public BigDecimal above() {
      return new BigDecimal(part.substring(0, part.indexOf('/')));
    }

    /** What stands below it. */
    public BigDecimal below() {
      return new BigDecimal(part.substring(part.indexOf('/') + 1));
    }
  }

  /** A part of a price that is not charged. */
  public record Discount(BigDecimal percent, String source) {}

  /** Of the book as a whole, or of one of its overrides. */
  static PriceEntry from(Values values) {
    Values match = values.section("match");
    Map<String, Price> gpus = new LinkedHashMap<>();
    Map<String, Share> gpuShares = new LinkedHashMap<>();
    split(values.section("gpu_hour"), gpus, gpuShares);
    Map<String, Price> shards = new LinkedHashMap<>();
    Map<String, Share> shardShares = new LinkedHashMap<>();
    split(values.section("shard_hour"), shards, shardShares);
    Values off = values.section("discount");
    return new PriceEntry(
        values.at(""),
        match.optionalText("cluster"),
        match.optionalText("partition"),
        match.optionalText("account"),
        values.optional("valid_from", LocalDate.class),
        values.optional("valid_until", LocalDate.class),
        gpus,
        gpuShares,
        shards,
        shardShares,
        PriceBook.optionalPrice(values, "cpu_hour"),
        PriceBook.optionalPrice(values, "memory_gib_hour"),
        PriceBook.optionalPrice(values, "node_hour"),
        PriceBook.optionalPrice(values, "billing_hour"),
        PriceBook.optionalPrice(values, "storage_gb_month"),
        values.has("discount")
            ? Optional.of(new Discount(off.decimal("percent"), off.text("source")))
            : Optional.empty());
  }

  private static void split(Values byType, Map<String, Price> prices, Map<String, Share> shares) {
    for (String type : byType.names()) {
      Values one = byType.section(type);
      if (one.has("price")) {
        prices.put(type, PriceBook.price(one));
      } else {
        shares.put(type, new Share(one.text("of"), one.text("share"), one.text("source")));
      }
    }
  }

  /** Whether it holds for runs of this partition and account of this cluster. */
  public boolean matches(
      String ofCluster, Optional<String> ofPartition, Optional<String> ofAccount) {
    return (cluster.isEmpty() || cluster.get().equals(ofCluster))
        && (partition.isEmpty() || partition.equals(ofPartition))
        && (account.isEmpty() || account.equals(ofAccount));
  }

  /** Whether it is valid on that day. */
  public boolean validOn(LocalDate day) {
    return (validFrom.isEmpty() || !day.isBefore(validFrom.get()))
        && (validUntil.isEmpty() || !day.isAfter(validUntil.get()));
  }

  /**
   * How much it counts against others that hold as well: an account more than a partition, a
   * partition more than a cluster.
   */
  public int weight() {
    return (account.isPresent() ? 4 : 0)
        + (partition.isPresent() ? 2 : 0)
        + (cluster.isPresent() ? 1 : 0);
  }
}
