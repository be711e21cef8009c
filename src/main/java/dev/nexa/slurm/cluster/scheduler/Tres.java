package dev.nexa.slurm.cluster.scheduler;

import dev.nexa.slurm.base.units.SlurmSize;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * The resources of an allocation, read from AllocTRES ({@code
 * billing=4,cpu=4,gres/gpu:h100=2,gres/gpu=2,mem=8G,node=1}).
 *
 * <p>The untyped {@code gres/gpu} is the total, and typed entries are its parts: {@code
 * gres/gpu:h100=2,gres/gpu=2} is 2 GPUs (Slurm's tres.html). Other generic resources ({@code
 * gres/shard}, {@code gres/mps}, {@code gres/gpumem}, {@code gres/gpuutil}) are not GPUs. A count
 * that is no number, {@code NONE} or one of Slurm's NO_VAL values is unknown, not 0.
 *
 * @param knownCpus CPUs; empty if the list does not name them
 * @param knownMemoryBytes memory in bytes; empty if the list does not name it
 * @param gpus all GPUs; empty, which is not zero, if the site does not track GPUs
 * @param gpusByType GPUs with a type, by type
 */
public record Tres(
    OptionalLong knownCpus,
    OptionalLong knownMemoryBytes,
    Optional<Long> gpus,
    Map<String, Long> gpusByType) {
  private static final String GPU = "gres/gpu";
  private static final String SHARD = "gres/shard";

  /** Reads a TRES list. The entries may be in any order; entries of other resources are ignored. */
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
        cpus = SlurmSize.count(value);
      } else if (name.equals("mem")) {
        memory = SlurmSize.bytes(value, SlurmSize.MIB);
      } else if (name.equals(GPU)) {
        OptionalLong gpus = SlurmSize.count(value);
        allTyped &= gpus.isPresent();
        total = gpus.isPresent() ? Optional.of(gpus.getAsLong()) : Optional.empty();
      } else if (name.startsWith(GPU + ":")) {
        OptionalLong gpus = SlurmSize.count(value);
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
   * Returns the GPU shards of a TRES list by type. A job has either shards or whole GPUs (Slurm's
   * gres.html).
   *
   * @param plannedType the type for shards that the list names without a type
   * @return empty if the list names no shards
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

  /** Returns the number of nodes in a TRES list; empty if the list does not name it. */
  public static OptionalLong nodes(String text) {
    return SlurmSize.count(SlurmSize.item(text, "node"));
  }

  /** Returns the CPUs; 0 if the list does not name them. */
  public long cpus() {
    return knownCpus.orElse(0);
  }

  /** Returns the memory in bytes; 0 if the list does not name it. */
  public long memoryBytes() {
    return knownMemoryBytes.orElse(0);
  }

  /**
   * Returns all GPUs by type.
   *
   * @param plannedType the type for GPUs that the list names without a type
   * @param plannedGpus the number of GPUs if the site does not track them
   */
  public Map<String, Long> gpusBy(String plannedType, long plannedGpus) {
    Map<String, Long> all = new TreeMap<>(gpusByType);
    long rest = gpus.orElse(plannedGpus) - sum(gpusByType);
    if (rest > 0) {
      all.merge(plannedType, rest, Long::sum);
    }
    return all;
  }

  /** The sum of all counts. */
  public static long sum(Map<String, Long> types) {
    long sum = 0;
    for (long count : types.values()) {
      sum += count;
    }
    return sum;
  }
}
