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
    for (Map.Entry<String, Long> gpu : gpus.entrySet()) {
      gpuSeconds.put(gpu.getKey(), Math.multiplyExact(gpu.getValue(), seconds));
    }
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
    for (Map.Entry<String, Long> gpu : gpuSeconds.entrySet()) {
      gpus.put(gpu.getKey(), Math.multiplyExact(gpu.getValue(), factor));
    }
    return new Usage(
        gpus,
        Math.multiplyExact(cpuSeconds, factor),
        memoryByteSeconds.multiply(BigInteger.valueOf(factor)));
  }

  /** GPU-hours of all types: one GPU for 3600 s. */
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
