package dev.nexa.slurm.money.prices;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.money.prices.AwsPriceList.Instance;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Writes a price book from AWS's prices of instances. The price of a GPU, with its share of CPUs
 * and memory, is the instance's price divided by its GPUs. Pure.
 */
public final class AwsPriceBook {
  private static final int DECIMALS = 6;

  /** The GPU type of each instance family. AWS's list has only the number of GPUs. */
  private static final Map<String, String> GPUS =
      Map.ofEntries(
          Map.entry("p3", "v100"),
          Map.entry("p3dn", "v100"),
          Map.entry("p4d", "a100"),
          Map.entry("p4de", "a100_80gb"),
          Map.entry("p5", "h100"),
          Map.entry("p5e", "h200"),
          Map.entry("p5en", "h200"),
          Map.entry("p6-b200", "b200"),
          Map.entry("g4dn", "t4"),
          Map.entry("g5", "a10g"),
          Map.entry("g6", "l4"),
          Map.entry("g6e", "l40s"));

  private AwsPriceBook() {}

  /**
   * Returns the text of a price book.
   *
   * @param list the instances, of one region and currency
   * @param types instance types, such as {@code p5.48xlarge}, or {@code p5.48xlarge=h100_sxm} if
   *     the cluster names its GPUs so; if empty, each known GPU type is priced by the instance with
   *     the most GPUs, and among these by the most expensive
   * @param today the price book's date if the list has none
   * @throws NexaException if the list has no such instance, or several regions or currencies
   */
  public static String text(AwsPriceList list, List<String> types, String today) {
    TreeSet<String> regions = new TreeSet<>();
    TreeSet<String> currencies = new TreeSet<>();
    list.instances().forEach(instance -> regions.add(instance.region()));
    list.instances().forEach(instance -> currencies.add(instance.currency()));
    if (list.instances().isEmpty()) {
      throw wrong(
          "there is no instance with Linux on shared hardware and a price by the hour in it",
          "is --region one that it has?");
    }
    if (regions.size() > 1 || currencies.size() > 1) {
      throw wrong(
          "it has several regions or currencies: %s; %s"
              .formatted(String.join(", ", regions), String.join(", ", currencies)),
          "name one: --region " + regions.first());
    }
    Map<String, Instance> gpus = new TreeMap<>();
    Optional<Instance> cpus = Optional.empty();
    if (types.isEmpty()) {
      gpus.putAll(known(list.instances()));
      if (gpus.isEmpty()) {
        throw wrong(
            "it has no instance whose GPUs are known here", "say which: --types TYPE=GPU_TYPE");
      }
    }
    for (String typed : types) {
      String[] pair = typed.split("=", 2);
      Instance instance = named(list.instances(), pair[0]);
      if (instance.gpus() == 0) {
        cpus = Optional.of(instance);
      } else if (gpus.put(gpu(instance, pair), instance) != null) {
        throw wrong("two of --types have the same GPU: " + gpu(instance, pair), "name one of them");
      }
    }
    String as = list.published().isEmpty() ? today : list.published();
    return write(gpus, cpus, as, regions.first(), currencies.first());
  }

  private static Map<String, Instance> known(List<Instance> instances) {
    Map<String, Instance> best = new HashMap<>();
    instances.stream()
        .filter(instance -> GPUS.containsKey(instance.family()) && instance.gpus() > 0)
        .forEach(one -> best.merge(GPUS.getOrDefault(one.family(), ""), one, AwsPriceBook::larger));
    return best;
  }

  private static Instance larger(Instance one, Instance other) {
    int gpus = Integer.compare(one.gpus(), other.gpus());
    return gpus > 0 || (gpus == 0 && one.price().compareTo(other.price()) >= 0) ? one : other;
  }

  private static Instance named(List<Instance> instances, String type) {
    TreeSet<String> there = new TreeSet<>();
    for (Instance instance : instances) {
      if (instance.type().equals(type)) {
        return instance;
      }
      there.add(instance.type());
    }
    throw wrong(
        "it has no price of '%s'; the nearest types that it has are %s"
            .formatted(type, String.join(", ", Nearest.first(type, there, 3))),
        "see what it has: grep -o '\"instanceType\" *: *\"[^\"]*\"' FILE | sort -u");
  }

  private static String gpu(Instance instance, String[] pair) {
    String gpu = pair.length == 2 ? pair[1] : GPUS.getOrDefault(instance.family(), "");
    if (gpu.isEmpty()) {
      throw wrong(
          "which GPU is in " + instance.type() + " is not known here",
          "say it: --types " + instance.type() + "=GPU_TYPE");
    }
    return gpu;
  }

  private static String write(
      Map<String, Instance> gpus,
      Optional<Instance> cpus,
      String as,
      String region,
      String currency) {
    StringBuilder text =
        new StringBuilder(
            """
            # yaml-language-server: $schema=../../docs/schemas/prices.schema.json
            # From AWS's price list of %s: %s, on demand, Linux, shared hardware.
            # A GPU's price is its part of the instance's, and covers CPUs and memory. \
            Your discounts go under overrides.
            currency: %s
            as_of: %s
            """
                .formatted(as, region, currency, as));
    if (!gpus.isEmpty()) {
      text.append("gpu_hour_covers_job: true\ngpu_hour:\n");
    }
    gpus.forEach(
        (gpu, instance) ->
            text.append("  " + gpu + ": " + part(instance, instance.gpus(), "GPUs")));
    cpus.ifPresent(one -> text.append("cpu_hour: " + part(one, one.vcpus(), "vCPUs")));
    return text.toString();
  }

  private static String part(Instance instance, int parts, String what) {
    BigDecimal among = BigDecimal.valueOf(Math.max(1, parts));
    BigDecimal price =
        instance.price().divide(among, DECIMALS, RoundingMode.HALF_UP).stripTrailingZeros();
    return "{price: %s, source: \"AWS on demand, %s%s: %s, %s an hour / %s %s\"}\n"
        .formatted(
            (price.scale() < 0 ? price.setScale(0) : price).toPlainString(),
            instance.region(),
            instance.from().isEmpty() ? "" : ", since " + instance.from(),
            instance.type(),
            instance.price().toPlainString(),
            parts,
            what);
  }

  private static NexaException wrong(String message, String advice) {
    return ErrorCode.PRICE_LIST_UNUSABLE.error("the price list: " + message, advice);
  }
}
