package dev.nexa.slurm.estimate;

import dev.nexa.slurm.config.PriceBook.Price;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.BillingWeights;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What a run is charged by, where that is not simply its GPUs, CPUs and memory.
 *
 * @param shardHour by the GPU type that is shared, for one shard for 3600 s
 * @param nodeHour whole nodes are charged, and none of their parts
 * @param billingHour Slurm's billing units are charged, and nothing else
 * @param gpuHourCoversJob whether CPUs and memory of a run with GPUs are in the GPUs' price
 */
public record Terms(
    Map<String, Price> shardHour,
    Optional<NodeRate> nodeHour,
    Optional<BillingRate> billingHour,
    boolean gpuHourCoversJob) {
  /** GPUs, CPUs and memory, each for itself. */
  public static final Terms PLAIN = new Terms(Map.of(), Optional.empty(), Optional.empty(), false);

  /**
   * A node for 3600 s.
   *
   * @param cpus of one, by which nodes are counted where nobody tells how many there were
   */
  public record NodeRate(Price price, int cpus) {}

  /** A billing unit for 3600 s, and what makes the units where Slurm does not tell them. */
  public record BillingRate(Price price, BillingWeights weights) {}

  /** Whether GPUs have a price of their own. */
  public boolean partsAreCharged() {
    return nodeHour.isEmpty() && billingHour.isEmpty();
  }

  /** Adds its members to the rates; a plain one has none. */
  void into(JsonObject json) {
    if (!shardHour.isEmpty()) {
      JsonObject shards = new JsonObject();
      shardHour.forEach((type, price) -> shards.with(type, Rates.price(price)));
      json.with("shard_hour", shards);
    }
    if (nodeHour.isPresent()) {
      json.with(
          "node_hour", Rates.price(nodeHour.get().price()).with("cpus", nodeHour.get().cpus()));
    }
    if (billingHour.isPresent()) {
      BillingWeights weights = billingHour.get().weights();
      json.with(
          "billing_hour",
          Rates.price(billingHour.get().price())
              .with("weights", weights.text())
              .with("rule", weights.rule().word()));
    }
    if (gpuHourCoversJob) {
      json.with("gpu_hour_covers_job", true);
    }
  }

  /** Of rates on disk; those of older versions are plain. */
  static Terms from(JsonObject json) {
    Map<String, @org.jspecify.annotations.Nullable Object> members = json.members();
    if (!members.containsKey("shard_hour")
        && !members.containsKey("node_hour")
        && !members.containsKey("billing_hour")
        && !members.containsKey("gpu_hour_covers_job")) {
      return PLAIN;
    }
    Map<String, Price> shards = new LinkedHashMap<>();
    JsonObject byType = json.optionalObject("shard_hour").orElseGet(JsonObject::new);
    byType.members().keySet().forEach(type -> shards.put(type, Rates.price(byType.object(type))));
    return new Terms(
        shards,
        json.optionalObject("node_hour")
            .map(node -> new NodeRate(Rates.price(node), (int) node.number("cpus"))),
        json.optionalObject("billing_hour").map(Terms::billing),
        Boolean.TRUE.equals(members.get("gpu_hour_covers_job")));
  }

  private static BillingRate billing(JsonObject json) {
    BillingWeights.Rule rule =
        BillingWeights.Rule.valueOf(json.text("rule").toUpperCase(Locale.ROOT));
    return new BillingRate(Rates.price(json), BillingWeights.parse(json.text("weights"), rule));
  }

  /** Billing units of held resources that nobody told; not cut to whole ones, so never too few. */
  BigDecimal unitHours(BillingRate rate, Usage usage) {
    Map<String, BigDecimal> amounts = new LinkedHashMap<>();
    BigDecimal gpus = BigDecimal.ZERO;
    for (Map.Entry<String, Long> gpu : usage.gpuSeconds().entrySet()) {
      BigDecimal hours = Rates.hours(gpu.getValue());
      amounts.put("gres/gpu:" + gpu.getKey().toLowerCase(Locale.ROOT), hours);
      gpus = gpus.add(hours);
    }
    amounts.put("gres/gpu", gpus);
    amounts.put("cpu", Rates.hours(usage.cpuSeconds()));
    amounts.put(
        "mem", Rates.gibHours(usage.memoryByteSeconds()).multiply(BigDecimal.valueOf(1024)));
    if (usage.nodeSeconds().isPresent()) {
      amounts.put("node", Rates.hours(usage.nodeSeconds().getAsLong()));
    } else if (rate.weights().weights().getOrDefault("node", BigDecimal.ZERO).signum() > 0) {
      throw new NexaException(
          ExitCode.DEFECT,
          "the billing weights "
              + rate.weights().text()
              + " count nodes, and it is not known how many nodes were held",
          "nothing is priced too low instead: ask for the estimate anew");
    }
    return rate.weights().units(amounts);
  }
}
