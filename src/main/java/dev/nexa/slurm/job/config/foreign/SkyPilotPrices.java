package dev.nexa.slurm.job.config.foreign;

import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PriceEntry;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.config.site.Prices;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.MapOf;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.io.IOException;
import java.nio.file.Files;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the {@code slurm.pricing} block of a SkyPilot config as a price book (SkyPilot docs,
 * reference/slurm/slurm-pricing).
 *
 * <p>The block has hourly rates for a vCPU, a GB and an accelerator: for all clusters, one cluster,
 * or one of its partitions, merged key by key. The rate of an accelerator covers the CPUs and
 * memory of its job. Unlike in SkyPilot, an accelerator without a rate is an error, not free.
 */
public final class SkyPilotPrices {
  private static final ValueType ANY_KEY = ValueType.text("a key", "[^\\n]*");
  private static final Optional<MapOf> OTHERS = Optional.of(mapOf(ANY_KEY, new Schema.Anything()));

  private static final KnownKey PRICING =
      optional(
          "pricing",
          Schema.section(
              optional("cpu", ValueType.MONEY, "One vCPU for one hour."),
              optional("memory", ValueType.MONEY, "One GB for one hour."),
              optional(
                  "accelerators",
                  mapOf(ValueType.NAME_WORD, ValueType.MONEY),
                  "By name: one accelerator for one hour, its CPUs and memory included.")),
          "Hourly rates.");

  private static final Section PARTITION = open(PRICING);
  private static final Section CLUSTER =
      open(PRICING, optional("partition_configs", mapOf(ANY_KEY, PARTITION), "By partition."));

  /** Keys of the whole file. SkyPilot checks the parts that are not about Slurm's prices. */
  public static final Section SPEC =
      open(
          optional(
              "currency",
              ValueType.text("an ISO 4217 code such as USD", "[A-Z]{3}"),
              "The currency of the rates; SkyPilot's are in USD. SkyPilot has no such key."),
          optional("as_of", ValueType.DATE, "Ours: the day the rates were true."),
          optional(
              "slurm",
              open(PRICING, optional("cluster_configs", mapOf(ANY_KEY, CLUSTER), "By cluster.")),
              "SkyPilot's settings for Slurm."));

  private SkyPilotPrices() {}

  private static Section open(KnownKey... keys) {
    return new Section(List.of(keys), OTHERS);
  }

  public static PriceBook book(
      String name, String written, String digest, ConfigSource.Found file, Values values) {
    Values slurm = values.section("slurm");
    List<PriceEntry> entries = new ArrayList<>();
    entries.add(entry(slurm, Optional.empty(), Optional.empty(), "slurm"));
    Values clusters = slurm.section("cluster_configs");
    for (String cluster : clusters.names()) {
      Values one = clusters.section(cluster);
      String path = "slurm.cluster_configs." + cluster;
      entries.add(entry(one, Optional.of(cluster), Optional.empty(), path));
      Values partitions = one.section("partition_configs");
      for (String partition : partitions.names()) {
        Values own = partitions.section(partition);
        String below = path + ".partition_configs." + partition;
        entries.add(entry(own, Optional.of(cluster), Optional.of(partition), below));
      }
    }
    PriceEntry all = entries.get(0);
    return new PriceBook(
        name,
        written,
        digest,
        values.optionalText("currency").orElse("USD"),
        values.optional("as_of", LocalDate.class).orElseGet(() -> changed(file)),
        all.prices(),
        true,
        List.copyOf(entries),
        true);
  }

  private static PriceEntry entry(
      Values values, Optional<String> cluster, Optional<String> partition, String path) {
    Values pricing = values.section("pricing");
    Map<String, Price> gpus = new LinkedHashMap<>();
    Values accelerators = pricing.section("accelerators");
    for (String type : accelerators.names()) {
      String source = "SkyPilot " + path + ".pricing.accelerators." + type;
      gpus.put(type, new Price(accelerators.decimal(type), source));
    }
    Map<PricedUnit, Price> units = new EnumMap<>(PricedUnit.class);
    price(pricing, "cpu", path).ifPresent(price -> units.put(PricedUnit.CPU, price));
    price(pricing, "memory", path).ifPresent(price -> units.put(PricedUnit.MEMORY, price));
    return new PriceEntry(
        values.at(""),
        cluster,
        partition,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        new Prices(gpus, units),
        Optional.empty());
  }

  private static Optional<Price> price(Values pricing, String key, String path) {
    String source = "SkyPilot " + path + ".pricing." + key;
    return pricing.optionalDecimal(key).map(rate -> new Price(rate, source));
  }

  /** Returns the day of the file's last change, because the file holds no date. */
  private static LocalDate changed(ConfigSource.Found file) {
    if (file.path().isEmpty()) {
      return LocalDate.EPOCH;
    }
    try {
      return LocalDate.ofInstant(
          Files.getLastModifiedTime(file.path().get()).toInstant(), ZoneOffset.UTC);
    } catch (IOException gone) {
      throw ErrorCode.FILE_UNREADABLE.error("cannot read " + file.name(), gone);
    }
  }
}
