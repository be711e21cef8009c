package dev.nexa.slurm.job.config.shared;

import static dev.nexa.slurm.job.config.yaml.Schema.inferable;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The resources of each task. CPUs, GPUs and memory are per node.
 *
 * @param memoryBytes memory on each node; empty for the default
 * @param time the time limit of a task
 * @param options the options of sbatch that the config sets
 */
public record Resources(
    int nodes,
    int gpusPerNode,
    Optional<String> gpuType,
    int cpusPerTask,
    Optional<Long> memoryBytes,
    Duration time,
    Map<ResourceOption, String> options,
    boolean exclusive) {

  /** Returns a copy with other numbers of nodes and of GPUs on each node. */
  public Resources on(int nodes, int gpusPerNode) {
    return new Resources(
        nodes, gpusPerNode, gpuType, cpusPerTask, memoryBytes, time, options, exclusive);
  }

  /** Returns an option of sbatch; empty if the config does not set it. */
  public Optional<String> option(ResourceOption option) {
    return Optional.ofNullable(options.get(option));
  }

  /** Returns the keys of the section, in the order of the documentation. */
  public static KnownKey[] keys() {
    List<KnownKey> keys = new ArrayList<>();
    keys.add(withDefault("nodes", ValueType.integer(1, 100_000), "1", "Nodes for each task."));
    keys.add(withDefault("gpus_per_node", ValueType.integer(0, 64), "0", "GPUs on each node."));
    keys.add(
        optional(
            "gpu_type",
            ValueType.NAME_WORD,
            "The GPU's type as the cluster names it, such as `h100`."));
    keys.add(withDefault("cpus_per_task", ValueType.integer(1, 4096), "1", "CPUs on each node."));
    keys.add(
        optional(
            "memory",
            ValueType.SIZE,
            "Memory on each node, with its unit. Default: the partition's default, else 4 GiB for each CPU."));
    keys.add(
        inferable(
            "time",
            ValueType.TIME,
            "Time limit of each task; a bare number is minutes, `30:00` is 30 minutes."));
    for (ResourceOption option : ResourceOption.values()) {
      keys.add(option.known());
    }
    keys.add(
        withDefault(
            "exclusive",
            ValueType.BOOLEAN,
            "false",
            "Whether the job gets whole nodes, and pays for whole nodes."));
    return keys.toArray(new KnownKey[0]);
  }

  /** Returns the resources of a section that was read without problems. */
  public static Resources from(Values values) {
    Map<ResourceOption, String> options = new EnumMap<>(ResourceOption.class);
    for (ResourceOption option : ResourceOption.values()) {
      values.optionalText(option.key()).ifPresent(value -> options.put(option, value));
    }
    return new Resources(
        values.integer("nodes"),
        values.integer("gpus_per_node"),
        values.optionalText("gpu_type"),
        values.integer("cpus_per_task"),
        values.optionalBytes("memory"),
        values.duration("time"),
        Collections.unmodifiableMap(options),
        values.flag("exclusive"));
  }

  /** Adds problems that concern several keys. */
  public static void check(Values values, List<Problem> problems) {
    if (values.has("gpu_type")
        && values.optionalInteger("gpus_per_node").orElse(0) == 0
        && !values.isWrong("gpus_per_node")) {
      problems.add(values.problem("gpu_type", "names a GPU, but gpus_per_node is 0"));
    }
  }
}
