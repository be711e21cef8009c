package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.ClusterProfile;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The GPUs of one type that a cluster has, and what nobody used of them in a month.
 *
 * <p>A profile's partitions often share nodes, so the partition with the most GPUs of a type
 * counts, and not the sum. The price of an hour is what the month's runs paid for an hour of this
 * type.
 *
 * @param gpus how many GPUs there are
 * @param capacity GPU-hours of the month
 * @param used GPU-hours of the runs that ended in the month
 * @param price what an hour cost; empty if no run used this type
 */
public record Capacity(
    String cluster,
    String gpuType,
    long gpus,
    BigDecimal capacity,
    BigDecimal used,
    Optional<Money> price) {
  private static final int HOUR_DECIMALS = 2;
  private static final int PRICE_DECIMALS = 6;
  private static final BigDecimal HOUR = BigDecimal.valueOf(3600);

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
          .money("unused_cost", row -> row.unusedCost().orElse(null));

  /** Returns the GPUs of a profile that says how many nodes its partitions have. */
  public static List<Capacity> of(ClusterProfile profile) {
    Map<String, Long> most = new TreeMap<>();
    for (ClusterProfile.Partition partition : profile.partitions().values()) {
      if (partition.gpuType().isPresent()
          && partition.gpusPerNode().isPresent()
          && partition.maxNodes().isPresent()) {
        long gpus = (long) partition.gpusPerNode().get() * partition.maxNodes().get();
        most.merge(partition.gpuType().get(), gpus, Math::max);
      }
    }
    List<Capacity> all = new ArrayList<>();
    most.forEach((type, gpus) -> all.add(bare(profile.name(), type, gpus)));
    return all;
  }

  private static Capacity bare(String cluster, String type, long gpus) {
    return new Capacity(cluster, type, gpus, BigDecimal.ZERO, BigDecimal.ZERO, Optional.empty());
  }

  static Capacity of(JsonObject json) {
    return bare(json.text("cluster"), json.text("gpu_type"), json.number("gpus"));
  }

  /** Returns the same GPUs with what these runs of the month used of them. */
  Capacity in(YearMonth month, List<Posting> runs) {
    Map<String, Long> seconds = new TreeMap<>();
    Map<String, BigDecimal> costs = new TreeMap<>();
    long all = 0;
    for (Posting run : runs) {
      if (run.held().cluster().equals(Optional.of(cluster))
          && run.held().gpuType().equals(Optional.of(gpuType))
          && run.held().gpuSeconds() > 0) {
        all += run.held().gpuSeconds();
        seconds.merge(run.currency(), run.held().gpuSeconds(), Long::sum);
        costs.merge(run.currency(), run.held().gpuCost(), BigDecimal::add);
      }
    }
    Optional<Money> price = Optional.empty();
    long longest = 0;
    for (Map.Entry<String, BigDecimal> cost : costs.entrySet()) {
      long held = seconds.getOrDefault(cost.getKey(), 0L);
      if (held > longest && cost.getValue().signum() > 0) {
        longest = held;
        BigDecimal hour =
            cost.getValue()
                .multiply(HOUR)
                .divide(BigDecimal.valueOf(held), PRICE_DECIMALS, RoundingMode.HALF_EVEN);
        price = Optional.of(new Money(hour, cost.getKey()));
      }
    }
    BigDecimal whole =
        BigDecimal.valueOf(gpus * month.lengthOfMonth() * 24).setScale(HOUR_DECIMALS);
    return new Capacity(cluster, gpuType, gpus, whole, hours(all), price);
  }

  private static BigDecimal hours(long seconds) {
    return BigDecimal.valueOf(seconds).divide(HOUR, HOUR_DECIMALS, RoundingMode.HALF_EVEN);
  }

  /** Returns the GPU-hours that no run used; never below 0. */
  public BigDecimal unused() {
    return capacity.subtract(used).max(BigDecimal.ZERO.setScale(HOUR_DECIMALS));
  }

  /** Returns what the unused hours would have cost; empty if their price is not known. */
  public Optional<BigDecimal> unusedCost() {
    return price.map(hour -> Money.line(unused(), hour.amount(), hour.currency()).amount());
  }
}
