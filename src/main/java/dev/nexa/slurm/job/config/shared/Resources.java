package dev.nexa.slurm.job.config.shared;

import static dev.nexa.slurm.job.config.yaml.Schema.inferable;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.units.Memory;
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
 * @param fewestNodes the least number of nodes; 0 if Slurm chooses it by the other keys
 * @param nodes the largest number of nodes
 * @param memoryBytes memory on each node; 0 for all of it; empty for the default
 * @param time the time limit of a task
 * @param options the options of sbatch that the config sets
 */
public record Resources(
    int fewestNodes,
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
        nodes, nodes, gpusPerNode, gpuType, cpusPerTask, memoryBytes, time, options, exclusive);
  }

  /** Returns a copy with another memory on each node and another time limit. */
  public Resources having(Optional<Long> memory, Duration limit) {
    return new Resources(
        fewestNodes, nodes, gpusPerNode, gpuType, cpusPerTask, memory, limit, options, exclusive);
  }

  /**
   * Returns a copy for a machine without Slurm, which has one node and starts one process: its
   * memory is on the node, and options that only Slurm understands are left out.
   */
  public Resources alone() {
    Map<ResourceOption, String> kept = new EnumMap<>(ResourceOption.class);
    for (Map.Entry<ResourceOption, String> option : options.entrySet()) {
      if (!option.getKey().sizes() && option.getKey() != ResourceOption.SBATCH_OPTIONS) {
        kept.put(option.getKey(), option.getValue());
      }
    }
    Optional<Long> memory = memoryBytes.filter(bytes -> bytes > 0);
    String perCpu = options.get(ResourceOption.MEMORY_PER_CPU);
    if (perCpu != null) {
      memory = Optional.of(Memory.parse(perCpu) * cpusPerTask);
    }
    return new Resources(
        nodes, nodes, gpusPerNode, gpuType, cpusPerTask, memory, time, kept, exclusive);
  }

  /** Returns an option of sbatch; empty if the config does not set it. */
  public Optional<String> option(ResourceOption option) {
    return Optional.ofNullable(options.get(option));
  }

  /** Returns the keys of the section, in the order of the documentation. */
  public static KnownKey[] keys() {
    List<KnownKey> keys = new ArrayList<>();
    keys.add(
        withDefault(
            "nodes",
            ValueType.count(
                "a whole number from 1 to 100000, or a range such as 2-4",
                "(?:[1-9][0-9]{0,4}|100000)(?:-[1-9][0-9]{0,5})?"),
            "1",
            "Nodes for each task. Of a range, the price counts the most."));
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
            ValueType.NODE_MEMORY,
            "Memory on each node, with its unit, or `all`. Default: the partition's default, else 4 GiB for each CPU."));
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
    String[] nodes = values.text("nodes").split("-", 2);
    int most = Integer.parseInt(nodes[nodes.length - 1]);
    boolean open = isOpen(values, options);
    return new Resources(
        open ? 0 : Integer.parseInt(nodes[0]),
        open ? mostNodes(options, values.integer("gpus_per_node")) : most,
        values.integer("gpus_per_node"),
        values.optionalText("gpu_type"),
        values.integer("cpus_per_task"),
        values.optionalBytes("memory"),
        values.duration("time"),
        Collections.unmodifiableMap(options),
        values.flag("exclusive"));
  }

  /** Returns whether Slurm chooses the number of nodes by the number of processes or GPUs. */
  private static boolean isOpen(Values values, Map<ResourceOption, String> options) {
    return values.isDefault("nodes")
        && (options.containsKey(ResourceOption.NTASKS) || options.containsKey(ResourceOption.GPUS));
  }

  /** Returns the most nodes that Slurm may choose: one for each process, or for each GPU. */
  private static int mostNodes(Map<ResourceOption, String> options, int gpusPerNode) {
    int tasks = Integer.parseInt(options.getOrDefault(ResourceOption.NTASKS, "0"));
    int gpus = Integer.parseInt(options.getOrDefault(ResourceOption.GPUS, "1"));
    return tasks > 0 ? tasks : Math.max(1, gpus / Math.max(1, gpusPerNode));
  }

  /** Adds problems that concern several keys. */
  public static void check(Values values) {
    String[] nodes = values.optionalText("nodes").orElse("1").split("-", 2);
    if (nodes.length == 2 && Integer.parseInt(nodes[0]) > Integer.parseInt(nodes[1])) {
      values.report("nodes", "expected the smaller number first");
    }
    onlyOne(values, "memory", "memory_per_cpu", "memory_per_gpu");
    onlyOne(values, "cpus_per_task", "cpus_per_gpu");
    String exclude = values.optionalText("exclude").orElse("");
    if (!exclude.equals(ResourceOption.BAD)
        && List.of(exclude.split(",", -1)).contains(ResourceOption.BAD)) {
      String alone = "'bad' means every node that is known to be bad, and no other name beside it";
      values.report("exclude", alone + ": write bad, or the names");
    }
    if (values.has("gpu_type") && !hasGpus(values)) {
      values.report("gpu_type", "names a GPU, but gpus_per_node is 0");
    }
    if (values.has("mincpus") && values.has("gpus_per_task")) {
      // Seen: 22.05 gives twice the GPUs on cores of two threads, 24.11 refuses the job.
      String instead =
          "Slurm gives a wrong number of GPUs with gpus_per_task beside it: write cpus_per_task";
      values.report("mincpus", instead);
    }
    gpusOfProcesses(values, Integer.parseInt(nodes[nodes.length - 1]));
    for (String key : List.of("memory_per_gpu", "cpus_per_gpu")) {
      if (values.has(key) && !hasGpus(values)) {
        values.report(key, "counts for each GPU, but gpus_per_node is 0");
      }
    }
  }

  /** sbatch refuses a job whose processes need more GPUs than its nodes have (seen with 22.05). */
  private static void gpusOfProcesses(Values values, int nodes) {
    long perNode = values.optionalInteger("gpus_per_node").orElse(0);
    long needed = number(values, "gpus_per_task");
    long processes = number(values, "ntasks");
    boolean open = processes > 0 && (values.isDefault("nodes") || !values.has("nodes"));
    if (processes == 0) {
      processes = nodes * Math.max(1, number(values, "ntasks_per_node"));
    }
    needed *= processes;
    perNode *= open ? processes : nodes;
    if (perNode > 0 && needed > perNode && !values.isWrong("nodes")) {
      String expected =
          "asks for %d GPUs with %d processes, but gpus_per_node gives %d: change one of them"
              .formatted(needed, processes, perNode);
      values.report("gpus_per_task", expected);
    }
  }

  private static long number(Values values, String key) {
    return Long.parseLong(values.optionalText(key).orElse("0"));
  }

  private static boolean hasGpus(Values values) {
    return values.optionalInteger("gpus_per_node").orElse(0) > 0
        || values.isWrong("gpus_per_node")
        || values.has("gpus")
        || values.has("gpus_per_task")
        || values.has("ntasks_per_gpu");
  }

  /** Slurm takes one of these options in a job. */
  private static void onlyOne(Values values, String... keys) {
    String first = "";
    for (String key : keys) {
      if (values.has(key) && !values.isDefault(key)) {
        if (!first.isEmpty()) {
          values.report(key, "says in another way what " + first + " says: keep one of them");
        }
        first = first.isEmpty() ? key : first;
      }
    }
  }
}
