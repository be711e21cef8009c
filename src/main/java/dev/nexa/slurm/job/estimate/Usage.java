package dev.nexa.slurm.job.estimate;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Resources held over time, added up exactly in whole seconds. Rounding happens only when money is
 * computed.
 *
 * <p>A sum that exceeds a long throws an {@link ArithmeticException}.
 *
 * @param gpuSeconds GPUs times seconds, by GPU type
 * @param shardSeconds shards times seconds, by the type of the shared GPU
 * @param cpuSeconds CPUs times seconds
 * @param memoryByteSeconds bytes times seconds
 * @param nodeSeconds nodes times seconds; empty if unknown
 * @param billingSeconds Slurm's billing units times seconds; empty if unknown
 */
public record Usage(
    Map<String, Long> gpuSeconds,
    Map<String, Long> shardSeconds,
    long cpuSeconds,
    BigInteger memoryByteSeconds,
    OptionalLong nodeSeconds,
    OptionalLong billingSeconds) {
  /** No resources. */
  public static final Usage NONE =
      new Usage(Map.of(), Map.of(), 0, BigInteger.ZERO, OptionalLong.of(0), OptionalLong.of(0));

  public Usage {
    gpuSeconds = new TreeMap<>(gpuSeconds);
    shardSeconds = shardSeconds.isEmpty() ? Map.of() : new TreeMap<>(shardSeconds);
  }

  /** Returns the usage of one allocation. Nodes and billing units are unknown. */
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
   * Returns a copy with shards, nodes and billing units, each multiplied by {@code seconds}.
   *
   * @param shards by the type of the shared GPU
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

  /** Returns the sum. Nodes and billing units are unknown if either operand's are. */
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

  /** Returns this usage multiplied by a factor. */
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

  /**
   * Returns the GPU-hours of all types. A GPU-hour is one GPU for 3600 s; shards are not included.
   */
  public BigDecimal gpuHours() {
    long sum = 0;
    for (long seconds : gpuSeconds.values()) {
      sum += seconds;
    }
    return Rates.hours(sum);
  }

  /** Returns the CPU-hours: one CPU for 3600 s. */
  public BigDecimal cpuHours() {
    return Rates.hours(cpuSeconds);
  }
}
