package dev.nexa.slurm.estimate;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Resources held over time, added up exactly: seconds are whole, so no rounding happens before
 * money is made of them. More than a long can hold is an {@link ArithmeticException}, never a small
 * number.
 *
 * @param gpuSeconds by GPU type
 * @param shardSeconds by the GPU type that is shared: shards times seconds
 * @param cpuSeconds CPUs times seconds
 * @param memoryByteSeconds bytes times seconds
 * @param nodeSeconds nodes times seconds; empty where that is not known
 * @param billingSeconds Slurm's billing units times seconds; empty where that is not known
 */
public record Usage(
    Map<String, Long> gpuSeconds,
    Map<String, Long> shardSeconds,
    long cpuSeconds,
    BigInteger memoryByteSeconds,
    OptionalLong nodeSeconds,
    OptionalLong billingSeconds) {
  public static final Usage NONE =
      new Usage(Map.of(), Map.of(), 0, BigInteger.ZERO, OptionalLong.of(0), OptionalLong.of(0));

  public Usage {
    gpuSeconds = new TreeMap<>(gpuSeconds);
    shardSeconds = shardSeconds.isEmpty() ? Map.of() : new TreeMap<>(shardSeconds);
  }

  /** What one allocation uses in that time. */
  public static Usage of(Map<String, Long> gpus, long cpus, long memoryBytes, long seconds) {
    return new Usage(
        multiplied(gpus, seconds),
        Map.of(),
        Math.multiplyExact(cpus, seconds),
        BigInteger.valueOf(memoryBytes).multiply(BigInteger.valueOf(seconds)),
        OptionalLong.empty(),
        OptionalLong.empty());
  }

  /**
   * The same with what Slurm tells besides.
   *
   * @param shards of GPUs, by type
   */
  public Usage holding(
      Map<String, Long> shards, OptionalLong nodes, OptionalLong billingUnits, long seconds) {
    return new Usage(
        gpuSeconds,
        multiplied(shards, seconds),
        cpuSeconds,
        memoryByteSeconds,
        times(nodes, seconds),
        times(billingUnits, seconds));
  }

  public Usage plus(Usage other) {
    Map<String, Long> gpus = new TreeMap<>(gpuSeconds);
    other.gpuSeconds.forEach((type, seconds) -> gpus.merge(type, seconds, Math::addExact));
    Map<String, Long> shards = new TreeMap<>(shardSeconds);
    other.shardSeconds.forEach((type, seconds) -> shards.merge(type, seconds, Math::addExact));
    return new Usage(
        gpus,
        shards,
        Math.addExact(cpuSeconds, other.cpuSeconds),
        memoryByteSeconds.add(other.memoryByteSeconds),
        plus(nodeSeconds, other.nodeSeconds),
        plus(billingSeconds, other.billingSeconds));
  }

  public Usage times(long factor) {
    return new Usage(
        multiplied(gpuSeconds, factor),
        multiplied(shardSeconds, factor),
        Math.multiplyExact(cpuSeconds, factor),
        memoryByteSeconds.multiply(BigInteger.valueOf(factor)),
        times(nodeSeconds, factor),
        times(billingSeconds, factor));
  }

  private static Map<String, Long> multiplied(Map<String, Long> counts, long factor) {
    if (counts.isEmpty()) {
      return Map.of();
    }
    Map<String, Long> products = new TreeMap<>();
    for (Map.Entry<String, Long> count : counts.entrySet()) {
      products.put(count.getKey(), Math.multiplyExact(count.getValue(), factor));
    }
    return products;
  }

  private static OptionalLong plus(OptionalLong one, OptionalLong other) {
    return one.isPresent() && other.isPresent()
        ? OptionalLong.of(Math.addExact(one.getAsLong(), other.getAsLong()))
        : OptionalLong.empty();
  }

  private static OptionalLong times(OptionalLong count, long factor) {
    return count.isPresent()
        ? OptionalLong.of(Math.multiplyExact(count.getAsLong(), factor))
        : count;
  }

  /** GPU-hours of all types: one GPU for 3600 s. Shards are parts of GPUs, and not in it. */
  public BigDecimal gpuHours() {
    long sum = 0;
    for (long seconds : gpuSeconds.values()) {
      sum += seconds;
    }
    return Rates.hours(sum);
  }

  public BigDecimal cpuHours() {
    return Rates.hours(cpuSeconds);
  }
}
