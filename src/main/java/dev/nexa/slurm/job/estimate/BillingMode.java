package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The units that a run is charged for, if not simply for GPUs, CPUs and memory.
 *
 * @param shardHour price of one shard for 3600 s, by the type of the shared GPU
 * @param nodeHour the price of a whole node; if present, the node's parts are not charged
 * @param billingHour the price of Slurm's billing unit; if present, only billing units are charged
 * @param gpuHourCoversJob whether the GPUs' price includes the CPUs and memory of a run with GPUs
 */
public record BillingMode(
    Map<String, Price> shardHour,
    Optional<NodeRate> nodeHour,
    Optional<BillingRate> billingHour,
    boolean gpuHourCoversJob) {
  /** GPUs, CPUs and memory are charged separately. */
  public static final BillingMode PLAIN =
      new BillingMode(Map.of(), Optional.empty(), Optional.empty(), false);

  /**
   * The price of a node for 3600 s.
   *
   * @param price the price
   * @param cpus the CPUs of a node; they give the number of nodes if accounting does not
   */
  public record NodeRate(Price price, int cpus) {}

  /**
   * The price of a billing unit for 3600 s.
   *
   * @param price the price
   * @param weights give the units if Slurm does not report them
   */
  public record BillingRate(Price price, BillingWeights weights) {}

  /** Returns whether GPUs, CPUs and memory are charged, rather than nodes or billing units. */
  public boolean partsAreCharged() {
    return nodeHour.isEmpty() && billingHour.isEmpty();
  }

  /** Adds the members of this mode to the rates' JSON; {@link #PLAIN} has none. */
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

  /**
   * Reads the mode from the rates' JSON. Rates of older versions have none and give {@link #PLAIN}.
   */
  static BillingMode from(JsonObject json) {
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
    return new BillingMode(
        shards,
        json.optionalObject("node_hour")
            .map(node -> new NodeRate(Rates.price(node), (int) node.number("cpus"))),
        json.optionalObject("billing_hour").map(BillingMode::billing),
        Boolean.TRUE.equals(members.get("gpu_hour_covers_job")));
  }

  private static BillingRate billing(JsonObject json) {
    BillingWeights.Rule rule =
        BillingWeights.Rule.valueOf(json.text("rule").toUpperCase(Locale.ROOT));
    return new BillingRate(Rates.price(json), BillingWeights.parse(json.text("weights"), rule));
  }

  /**
   * Returns the billing-unit-hours of a usage whose units Slurm did not report. They are not
   * truncated, so they are never too few.
   *
   * @throws NexaException if the weights count nodes and the number of nodes is unknown
   */
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
      throw ErrorCode.SLURM_ANSWER_UNUSABLE.error(
          "the billing weights "
              + rate.weights().text()
              + " count nodes, and it is not known how many nodes were held",
          "nothing is priced too low instead: ask for the estimate anew");
    }
    return rate.weights().units(amounts);
  }
}
