package dev.nexa.slurm.estimate;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.TreeMap;

/**
 * Resources held over time, added up exactly: seconds are whole, so no rounding happens before
 * money is made of them. More than a long can hold is an {@link ArithmeticException}, never a small
 * number.
 *
 * @param gpuSeconds by GPU type
 * @param cpuSeconds CPUs times seconds
 * @param memoryByteSeconds bytes times seconds
 */
public record Usage(Map<String, Long> gpuSeconds, long cpuSeconds, BigInteger memoryByteSeconds) {
  public static final Usage NONE = new Usage(Map.of(), 0, BigInteger.ZERO);

  public Usage {
    gpuSeconds = new TreeMap<>(gpuSeconds);
  }

  /** What one allocation uses in that time. */
  public static Usage of(Map<String, Long> gpus, long cpus, long memoryBytes, long seconds) {
    Map<String, Long> gpuSeconds = new TreeMap<>();
    gpus.forEach((type, count) -> gpuSeconds.put(type, Math.multiplyExact(count, seconds)));
    return new Usage(
        gpuSeconds,
        Math.multiplyExact(cpus, seconds),
        BigInteger.valueOf(memoryBytes).multiply(BigInteger.valueOf(seconds)));
  }

  public Usage plus(Usage other) {
    Map<String, Long> gpus = new TreeMap<>(gpuSeconds);
    other.gpuSeconds.forEach((type, seconds) -> gpus.merge(type, seconds, Math::addExact));
    return new Usage(
        gpus,
        Math.addExact(cpuSeconds, other.cpuSeconds),
        memoryByteSeconds.add(other.memoryByteSeconds));
  }

  public Usage times(long factor) {
    Map<String, Long> gpus = new TreeMap<>();
    gpuSeconds.forEach((type, seconds) -> gpus.put(type, Math.multiplyExact(seconds, factor)));
    return new Usage(
        gpus,
        Math.multiplyExact(cpuSeconds, factor),
        memoryByteSeconds.multiply(BigInteger.valueOf(factor)));
  }

  /** GPU-hours of all types: one GPU for 3600 s. */
  public BigDecimal gpuHours() {
    return Rates.hours(gpuSeconds.values().stream().mapToLong(Long::longValue).sum());
  }

  public BigDecimal cpuHours() {
    return Rates.hours(cpuSeconds);
  }
}
