package dev.nexa.slurm.scheduler;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * What an allocation held, from AllocTRES ({@code
 * billing=4,cpu=4,gres/gpu:h100=2,gres/gpu=2,mem=8G,node=1}). The untyped {@code gres/gpu} is the
 * total and the typed ones its parts: 2 + 2 is 2 (tres.html). Other generic resources ({@code
 * gres/shard}, {@code gres/mps}, {@code gres/gpumem}, {@code gres/gpuutil}) are no GPUs. A count
 * that is no number, {@code NONE} or one of Slurm's NO_VAL is unknown, never 0.
 *
 * @param knownCpus empty where the list does not say
 * @param knownMemoryBytes empty where the list does not say
 * @param gpus all GPUs; empty where the site does not track them, which is not zero
 * @param gpusByType the typed parts
 */
public record Tres(
    OptionalLong knownCpus,
    OptionalLong knownMemoryBytes,
    Optional<Long> gpus,
    Map<String, Long> gpusByType) {
  private static final String GPU = "gres/gpu";

  /** Reads the list, in any order. */
  public static Tres parse(String text) {
    OptionalLong cpus = OptionalLong.empty();
    OptionalLong memory = OptionalLong.empty();
    Optional<Long> total = Optional.empty();
    boolean allTyped = true;
    Map<String, Long> types = new TreeMap<>();
    for (String item : text.split(",", -1)) {
      int equals = item.indexOf('=');
      String name = equals < 0 ? item : item.substring(0, equals);
      String value = equals < 0 ? "" : item.substring(equals + 1);
      if (name.equals("cpu")) {
        cpus = count(value);
      } else if (name.equals("mem")) {
        memory = SlurmSize.bytes(value, SlurmSize.MIB);
      } else if (name.equals(GPU)) {
        OptionalLong gpus = count(value);
        allTyped &= gpus.isPresent();
        total = gpus.isPresent() ? Optional.of(gpus.getAsLong()) : Optional.empty();
      } else if (name.startsWith(GPU + ":")) {
        OptionalLong gpus = count(value);
        allTyped &= gpus.isPresent();
        if (gpus.isPresent()) {
          types.merge(name.substring(GPU.length() + 1), gpus.getAsLong(), Long::sum);
        }
      }
    }
    if (total.isEmpty() && !types.isEmpty() && allTyped) {
      total = Optional.of(sum(types));
    }
    return new Tres(cpus, memory, total, types);
  }

  /** CPUs; 0 where the list does not say. */
  public long cpus() {
    return knownCpus.orElse(0);
  }

  /** Memory; 0 where the list does not say. */
  public long memoryBytes() {
    return knownMemoryBytes.orElse(0);
  }

  /**
   * GPUs by type; those without one, or all that the site did not track, by what the plan asked
   * for.
   */
  public Map<String, Long> gpusBy(String plannedType, long plannedGpus) {
    Map<String, Long> all = new TreeMap<>(gpusByType);
    long rest = gpus.orElse(plannedGpus) - sum(gpusByType);
    if (rest > 0) {
      all.merge(plannedType, rest, Long::sum);
    }
    return all;
  }

  private static long sum(Map<String, Long> types) {
    long sum = 0;
    for (long count : types.values()) {
      sum += count;
    }
    return sum;
  }

  private static OptionalLong count(String value) {
    return SlurmSize.count(value);
  }
}
