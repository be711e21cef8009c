package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.site.NodeSharing;
import java.util.Map;
import java.util.Optional;

/**
 * The most that Slurm gives to a job whose size follows from its processes, from memory for each
 * CPU or GPU, or from a range of nodes (sbatch(1)). AllocationsOnSlurmTest checks it against Slurm
 * 22.05 and 24.11. Pure.
 *
 * @param asked the options of the job
 * @param nodes the most nodes
 * @param tasks the processes on all nodes
 * @param onNode the most processes on one node
 * @param gpus the GPUs on all nodes
 * @param mostTasks the processes that Slurm may make room for
 * @param mostGpus the GPUs that it may give for them
 */
record JobSize(
    Allocation asked, int nodes, int tasks, int onNode, int gpus, int mostTasks, int mostGpus) {
  /**
   * Returns the size of the job.
   *
   * @throws ArithmeticException if it is more than can be counted
   */
  static JobSize of(Allocation asked) {
    Map<ResourceOption, String> options = asked.options();
    int nodes = asked.nodes();
    int tasks = number(options, ResourceOption.NTASKS);
    int perNode = number(options, ResourceOption.NTASKS_PER_NODE);
    int perGpu = number(options, ResourceOption.NTASKS_PER_GPU);
    int gpus = number(options, ResourceOption.GPUS);
    int perTask = number(options, ResourceOption.GPUS_PER_TASK);
    boolean counted = tasks > 0;
    if (gpus == 0) {
      gpus = Math.multiplyExact(asked.gpusPerNode(), nodes);
    }
    if (!counted) {
      tasks =
          perNode > 0
              ? Math.multiplyExact(nodes, perNode)
              // Without GPUs, 24.11 counts --ntasks-per-gpu for each node (seen).
              : Math.max(nodes, Math.multiplyExact(perGpu, gpus > 0 ? gpus : nodes));
    }
    if (gpus == 0) {
      gpus = perTask > 0 ? Math.multiplyExact(perTask, tasks) : perGpu > 0 ? up(tasks, perGpu) : 0;
    }
    // Slurm places at least one process on each node.
    int most = counted ? Math.max(1, tasks - Math.max(1, asked.fewestNodes()) + 1) : tasks;
    // More processes than fit by --ntasks-per-node: Slurm counts them, and ignores that option.
    boolean held = perNode > 0 && tasks <= (long) nodes * perNode;
    int onNode = held ? Math.min(perNode, most) : counted ? most : up(tasks, nodes);
    int filled = 0;
    if (counted && perNode > 0) {
      // A job may get room for --ntasks-per-node processes on each node: 5 of them, 3 on a node,
      // get
      // the CPUs and the GPUs of 6 (seen with 22.05).
      filled = Math.multiplyExact(asked.fewestNodes() > 0 ? nodes : up(tasks, perNode), perNode);
      onNode = Math.max(onNode, perNode);
    }
    int mostTasks = Math.max(tasks, filled);
    boolean byTask = perTask > 0 && gpus == (long) perTask * tasks;
    int mostGpus = byTask ? Math.multiplyExact(perTask, mostTasks) : gpus;
    return new JobSize(asked, nodes, tasks, onNode, gpus, mostTasks, mostGpus);
  }

  private static int number(Map<ResourceOption, String> options, ResourceOption option) {
    return Integer.parseInt(options.getOrDefault(option, "0"));
  }

  private static int up(int number, int by) {
    return (number - 1) / by + 1;
  }

  /** Returns the memory that the option asks for, in bytes; 0 if it does not. */
  private long bytes(ResourceOption option) {
    Optional<String> size = asked.option(option);
    return size.isPresent() ? Memory.wholeMib(Memory.parse(size.get())) : 0;
  }

  /** Returns the most CPUs on all nodes, if the job shares them with others. */
  long cpus(NodeSharing sharing) {
    Map<ResourceOption, String> options = asked.options();
    int core = sharing.cpusMultipleOf();
    long memory = Math.max(0, asked.memoryBytes());
    int threads = number(options, ResourceOption.THREADS_PER_CORE);
    long each = Math.max(threads, asked.cpusPerTask()) * factor(sharing);
    boolean wholeCores = "nomultithread".equals(options.get(ResourceOption.HINT)) || threads == 1;
    boolean apart =
        options.containsKey(ResourceOption.NTASKS_PER_CORE)
            || options.containsKey(ResourceOption.NTASKS_PER_SOCKET);
    // Each process rounds up by itself, or all of a node do together.
    each = wholeCores ? each * core : apart ? (each - 1) / core * core + core : each;
    long least = Math.max(number(options, ResourceOption.MINCPUS), 1);
    long even = (long) nodes * sharing.cpusGiven(Math.max(onNode * each, least), memory);
    // If the processes are on the nodes in unequal numbers, each node rounds up by itself.
    long forMemory = memory == 0 ? 1 : sharing.cpusFor(1, memory);
    long uneven =
        Math.max(mostTasks * each, nodes * least)
            + nodes * (core - 1 + (forMemory > 1 ? forMemory : 0L));
    int perGpu = number(options, ResourceOption.CPUS_PER_GPU);
    // These jobs get no --cpus-per-task from us (ScriptModel), and then the cluster's default
    // counts.
    boolean byDefault =
        asked.cpusPerTask() == 1
            && (threads > 0 || options.containsKey(ResourceOption.GPUS_PER_TASK));
    perGpu = perGpu == 0 && byDefault ? sharing.cpusPerGpu() : perGpu;
    long ofGpus = cpusOfGpus(sharing, perGpu * (wholeCores ? core : 1));
    long given = Math.min(even, uneven);
    // 24.11 gives whole cores for them, of two threads, where a job gets single threads else.
    return Math.max(given, ofGpus == 0 ? 0 : ofGpus + nodes * (Math.max(2L, core) - 1));
  }

  /**
   * Returns the most CPUs for the GPUs. Slurm 24.11 gives each node the CPUs for the GPUs of the
   * node that has the most. So 10 GPUs as 7, 1, 1 and 1 with 2 CPUs each get 56 CPUs (seen).
   */
  private long cpusOfGpus(NodeSharing sharing, int each) {
    int perTask = number(asked.options(), ResourceOption.GPUS_PER_TASK);
    long most =
        asked.gpusPerNode() > 0
            ? asked.gpusPerNode()
            : perTask > 0 && gpus == (long) perTask * tasks
                ? (long) perTask * onNode
                : gpus - Math.max(1, asked.fewestNodes()) + 1L;
    most = Math.min(most, sharing.mostGpus().orElse(Integer.MAX_VALUE));
    most = Math.min(most * each, sharing.mostCpus().orElse(Integer.MAX_VALUE));
    return Math.max((long) mostGpus * each, nodes * most);
  }

  /**
   * Returns Slurm's factor for the CPUs of a job that asks for more memory for each CPU than
   * MaxMemPerCPU (job_mgr.c, _valid_pn_min_mem).
   */
  private long factor(NodeSharing sharing) {
    long perCpu = bytes(ResourceOption.MEMORY_PER_CPU);
    Optional<Long> most = sharing.maxMemoryPerCpu();
    return perCpu == 0 || most.isEmpty() ? 1 : (perCpu - 1) / most.get() + 1;
  }

  /** Returns the most memory in bytes on all nodes, for so many CPUs and GPUs. */
  long memory(NodeSharing sharing, long cpus, long gpus) {
    long perCpu = bytes(ResourceOption.MEMORY_PER_CPU);
    if (perCpu > 0) {
      return Math.multiplyExact((perCpu - 1) / factor(sharing) + 1, cpus);
    }
    long perGpu = bytes(ResourceOption.MEMORY_PER_GPU);
    if (perGpu > 0) {
      return Math.multiplyExact(perGpu, gpus);
    }
    return Math.multiplyExact(Math.max(0, asked.memoryBytes()), (long) nodes);
  }

  /** Returns the CPUs that the options name, on all nodes. */
  long cpusAsked() {
    int ofGpus = number(asked.options(), ResourceOption.CPUS_PER_GPU);
    return ofGpus > 0 ? (long) ofGpus * gpus : (long) tasks * asked.cpusPerTask();
  }

  /** Returns {@code 2 to 4 nodes with 16 processes of 8 CPUs and 4 h100, 2 GiB for each CPU, }. */
  String words() {
    StringBuilder words = new StringBuilder();
    int fewest = asked.fewestNodes();
    words.append(fewest == 0 ? "up to " : fewest < nodes ? fewest + " to " : "");
    words.append(Plural.of(nodes, "node")).append(" with ");
    words.append(tasks == 1 ? "1 process" : tasks + " processes").append(" of ");
    int ofGpus = number(asked.options(), ResourceOption.CPUS_PER_GPU);
    words.append(
        ofGpus > 0
            ? Plural.of(ofGpus, "CPU") + " for each GPU"
            : Plural.of(asked.cpusPerTask(), "CPU"));
    if (gpus > 0) {
      words.append(" and ").append(gpus).append(' ').append(asked.gpuType().orElse("GPUs"));
    }
    return words.append(memoryWords()).append(", ").toString();
  }

  private String memoryWords() {
    if (asked.memoryBytes() >= 0) {
      return ", " + asked.memoryWords() + " on each node";
    }
    Optional<String> perGpu = asked.option(ResourceOption.MEMORY_PER_GPU);
    return perGpu.isPresent()
        ? ", " + Memory.plain(Memory.parse(perGpu.get())) + " for each GPU"
        : asked.option(ResourceOption.MEMORY_PER_CPU).isPresent()
            ? ", " + Memory.plain(bytes(ResourceOption.MEMORY_PER_CPU)) + " for each CPU"
            : "";
  }

  /** Returns the manifest's {@code hardware}, as {@link Allocation#hardware} has it. */
  String hardware() {
    return gpus > 0 ? gpus + "x " + asked.gpuType().orElse("gpu") : Plural.of(cpusAsked(), "CPU");
  }
}
