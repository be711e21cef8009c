package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The GPUs of one type that a cluster has, and their unused hours in a month.
 *
 * <p>A profile's partitions often share nodes. So the partition with the most GPUs of a type
 * counts, and not the sum. Profiles that have a partition in common have the same nodes, and count
 * together. The price of an hour is the mean of the rates of the month's runs, weighted by their
 * hours.
 *
 * @param cluster the profile's name; several, with commas, if their nodes are the same
 * @param gpus how many GPUs there are
 * @param capacity GPU-hours of the month
 * @param used GPU-hours of the runs that ended in the month, and of late runs of closed months
 * @param price the price of an hour, rounded; empty if no run used this type
 * @param unusedCost the cost that the unused hours would have had, rounded once; empty if the price
 *     is empty
 */
public record Capacity(
    String cluster,
    String gpuType,
    long gpus,
    BigDecimal capacity,
    BigDecimal used,
    Optional<Money> price,
    Optional<BigDecimal> unusedCost) {
  private static final int HOUR_DECIMALS = 2;
  private static final int PRICE_DECIMALS = 6;
  private static final BigDecimal HOUR = BigDecimal.valueOf(3600);
  private static final String AND = ", ";

  /** All columns. */
  public static final Columns<Capacity> COLUMNS =
      new Columns<Capacity>()
          .text("cluster", Capacity::cluster)
          .text("gpu_type", Capacity::gpuType)
          .number("gpus", Capacity::gpus)
          .hours("capacity_gpu_hours", Capacity::capacity)
          .hours("used_gpu_hours", Capacity::used)
          .hours("unused_gpu_hours", Capacity::unused)
          .text("currency", row -> row.price.map(Money::currency).orElse(null))
          .money("gpu_hour", row -> row.price.map(Money::amount).orElse(null))
          .money("unused_cost", row -> row.unusedCost.orElse(null));

  private record Part(String partition, String gpuType, long gpus) {}

  /**
   * Returns the GPUs of the profiles that say how many nodes their partitions have. A profile whose
   * jobs run on CPUs has none.
   */
  public static List<Capacity> of(List<ClusterProfile> profiles) {
    Map<String, Set<Part>> nodes = new LinkedHashMap<>();
    for (ClusterProfile profile : profiles) {
      Set<Part> parts = parts(profile);
      String names = profile.name();
      for (String other : List.copyOf(nodes.keySet())) {
        if (!Collections.disjoint(nodes.get(other), parts)) {
          parts.addAll(nodes.remove(other));
          names = other + AND + names;
        }
      }
      nodes.put(names, parts);
    }
    List<Capacity> rows = new ArrayList<>();
    nodes.forEach(
        (names, parts) -> {
          Map<String, Long> most = new TreeMap<>();
          parts.forEach(part -> most.merge(part.gpuType, part.gpus, Math::max));
          most.forEach((type, gpus) -> rows.add(bare(names, type, gpus)));
        });
    return rows;
  }

  private static Set<Part> parts(ClusterProfile profile) {
    Set<Part> parts = new HashSet<>();
    for (Map.Entry<String, ClusterProfile.Partition> one : profile.partitions().entrySet()) {
      ClusterProfile.Partition partition = one.getValue();
      if (profile.accelerator().equals("cuda")
          && partition.gpuType().isPresent()
          && partition.gpusPerNode().isPresent()
          && partition.maxNodes().isPresent()) {
        long gpus = (long) partition.gpusPerNode().get() * partition.maxNodes().get();
        parts.add(new Part(one.getKey(), partition.gpuType().get(), gpus));
      }
    }
    return parts;
  }

  private static Capacity bare(String cluster, String type, long gpus) {
    BigDecimal none = BigDecimal.ZERO;
    return new Capacity(cluster, type, gpus, none, none, Optional.empty(), Optional.empty());
  }

  /** Reads a row of a statement. Its hours are added up again; its price is the signed price. */
  static Capacity of(JsonObject json) {
    Optional<String> currency = json.optionalText("currency");
    return bare(json.text("cluster"), json.text("gpu_type"), json.number("gpus"))
        .costing(
            currency.map(code -> new Money(new BigDecimal(json.text("gpu_hour")), code)),
            json.optionalText("unused_cost").map(BigDecimal::new));
  }

  private Capacity costing(Optional<Money> hour, Optional<BigDecimal> unused) {
    return new Capacity(cluster, gpuType, gpus, capacity, used, hour, unused);
  }

  /** Returns the same GPUs with the hours that these runs used. */
  Capacity in(YearMonth month, List<Posting> runs) {
    BigDecimal all = hours(seconds(month));
    return new Capacity(cluster, gpuType, gpus, all, hours(used(runs)), price, unusedCost);
  }

  /** Returns the same GPUs at the price of these runs of the month. */
  Capacity priced(YearMonth month, List<Posting> runs) {
    Map<String, BigDecimal> seconds = new TreeMap<>();
    Map<String, BigDecimal> costs = new TreeMap<>();
    for (Posting run : runs) {
      if (isHere(run)) {
        BigDecimal held = BigDecimal.valueOf(run.held().gpuSeconds());
        Optional<BigDecimal> rate = run.proof().gpuHour();
        // Without a rate, the rounded amount of the ledger counts.
        BigDecimal cost =
            rate.isPresent() ? rate.get().multiply(held) : run.held().gpuCost().multiply(HOUR);
        seconds.merge(run.currency(), held, BigDecimal::add);
        costs.merge(run.currency(), cost, BigDecimal::add);
      }
    }
    Capacity priced = this;
    BigDecimal longest = BigDecimal.ZERO;
    BigDecimal unused = BigDecimal.valueOf(Math.max(0, seconds(month) - used(runs)));
    for (Map.Entry<String, BigDecimal> one : seconds.entrySet()) {
      String currency = one.getKey();
      BigDecimal cost = costs.getOrDefault(currency, BigDecimal.ZERO);
      if (one.getValue().compareTo(longest) > 0 && cost.signum() > 0) {
        longest = one.getValue();
        BigDecimal hour = cost.divide(longest, PRICE_DECIMALS, RoundingMode.HALF_EVEN);
        BigDecimal all =
            cost.multiply(unused).divide(longest.multiply(HOUR), MathContext.DECIMAL128);
        priced =
            costing(
                Optional.of(new Money(hour, currency)),
                Optional.of(new Money(all, currency).rounded().amount()));
      }
    }
    return priced;
  }

  private boolean isHere(Posting run) {
    return run.held().gpuType().equals(Optional.of(gpuType))
        && run.held().gpuSeconds() > 0
        && List.of(cluster.split(AND, -1)).contains(run.held().cluster().orElse(""));
  }

  private long used(List<Posting> runs) {
    return runs.stream().filter(this::isHere).mapToLong(run -> run.held().gpuSeconds()).sum();
  }

  private long seconds(YearMonth month) {
    return gpus * month.lengthOfMonth() * 24 * 3600;
  }

  private static BigDecimal hours(long seconds) {
    return BigDecimal.valueOf(seconds).divide(HOUR, HOUR_DECIMALS, RoundingMode.HALF_EVEN);
  }

  /** Returns the GPU-hours that no run used; never below 0. */
  public BigDecimal unused() {
    return capacity.subtract(used).max(BigDecimal.ZERO.setScale(HOUR_DECIMALS));
  }
}
