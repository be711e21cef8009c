package dev.nexa.slurm.scheduler;

import dev.nexa.slurm.units.SlurmSize;
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
  private static final String SHARD = "gres/shard";

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

  /**
   * Shards of GPUs by type, of a list that holds no whole GPU; a job has one or the other
   * (gres.html). Those without a type are of the planned one.
   */
  public static Map<String, Long> shards(String text, String plannedType) {
    if (!text.contains(SHARD)) {
      return Map.of();
    }
    Map<String, Long> types = new TreeMap<>();
    long total = 0;
    for (String item : text.split(",", -1)) {
      int equals = item.indexOf('=');
      String name = equals < 0 ? item : item.substring(0, equals);
      long shards = equals < 0 ? 0 : SlurmSize.count(item.substring(equals + 1)).orElse(0);
      if (name.equals(SHARD)) {
        total = shards;
      } else if (name.startsWith(SHARD + ":")) {
        types.merge(name.substring(SHARD.length() + 1), shards, Long::sum);
      }
    }
    long rest = total - sum(types);
    if (rest > 0) {
      types.merge(plannedType, rest, Long::sum);
    }
    return types;
  }

  /** Nodes of a list; empty where it does not say. */
  public static OptionalLong nodes(String text) {
    for (String item : text.split(",", -1)) {
      if (item.startsWith("node=")) {
        return SlurmSize.count(item.substring("node=".length()));
      }
    }
    return OptionalLong.empty();
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
