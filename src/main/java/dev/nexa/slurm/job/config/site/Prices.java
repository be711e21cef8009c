package dev.nexa.slurm.job.config.site;

import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PriceBook.TokenPrice;
import dev.nexa.slurm.job.config.site.PriceEntry.Share;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The prices of a price book, or of one of its overrides. A missing price is unknown, never zero.
 *
 * @param gpuHour price of one GPU for 3600 s, by GPU type
 * @param gpuShares by GPU type: a part of another type's price
 * @param shardHour price of a shard for 3600 s, by the type of the shared GPU
 * @param shardShares by the type of the shared GPU: a shard's part of the GPU's price
 * @param units the prices of units that have one price only
 * @param apiTokens prices of 10^6 tokens of an API, by model
 */
public record Prices(
    Map<String, Price> gpuHour,
    Map<String, Share> gpuShares,
    Map<String, Price> shardHour,
    Map<String, Share> shardShares,
    Map<PricedUnit, Price> units,
    Map<String, TokenPrice> apiTokens) {

  /** Creates prices of GPUs and of units only. */
  public Prices(Map<String, Price> gpuHour, Map<PricedUnit, Price> units) {
    this(gpuHour, Map.of(), Map.of(), Map.of(), units, Map.of());
  }

  static Prices from(Values values) {
    Map<String, Price> gpus = new LinkedHashMap<>();
    Map<String, Share> gpuShares = new LinkedHashMap<>();
    split(values.section("gpu_hour"), gpus, gpuShares);
    Map<String, Price> shards = new LinkedHashMap<>();
    Map<String, Share> shardShares = new LinkedHashMap<>();
    split(values.section("shard_hour"), shards, shardShares);
    Map<PricedUnit, Price> units = new EnumMap<>(PricedUnit.class);
    for (PricedUnit unit : PricedUnit.values()) {
      if (values.has(unit.key())) {
        units.put(unit, price(values.section(unit.key())));
      }
    }
    Map<String, TokenPrice> tokens = new LinkedHashMap<>();
    Values byModel = values.section("api_tokens");
    for (String model : byModel.names()) {
      Values one = byModel.section(model);
      tokens.put(model, new TokenPrice(price(one.section("input")), price(one.section("output"))));
    }
    return new Prices(gpus, gpuShares, shards, shardShares, units, tokens);
  }

  private static void split(Values byType, Map<String, Price> prices, Map<String, Share> shares) {
    for (String type : byType.names()) {
      Values one = byType.section(type);
      if (one.has("price")) {
        prices.put(type, price(one));
      } else {
        shares.put(type, new Share(one.text("of"), one.text("share"), one.text("source")));
      }
    }
  }

  private static Price price(Values values) {
    return new Price(values.decimal("price"), values.text("source"));
  }

  /** Returns the price of a unit; empty if it has none. */
  public Optional<Price> of(PricedUnit unit) {
    return Optional.ofNullable(units.get(unit));
  }

  /** Returns whether a part of an allocation has a price: GPUs, CPUs or memory. */
  public boolean haveParts() {
    return !gpuHour.isEmpty()
        || !gpuShares.isEmpty()
        || units.keySet().stream().anyMatch(PricedUnit::isPart);
  }

  /** Returns all prices that are written as an amount. */
  public List<Price> all() {
    List<Price> all = new ArrayList<>(gpuHour.values());
    all.addAll(shardHour.values());
    all.addAll(units.values());
    for (TokenPrice price : apiTokens.values()) {
      all.add(price.input());
      all.add(price.output());
    }
    return all;
  }
}
