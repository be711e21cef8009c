package dev.nexa.slurm.job.config.shared;

import static dev.nexa.slurm.job.config.yaml.ValueType.NAME_WORD;

import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.ValueType;

/**
 * The keys under {@code resources} whose text becomes an option of sbatch. The config's reader, the
 * plan, the script, approvals and their texts loop over this table, so that a new key is one more
 * constant. An approval covers each of them.
 *
 * <p>plan.json has them in this order. Add new options at the end.
 */
public enum ResourceOption {
  PARTITION(
      "partition",
      ValueType.PARTITION,
      "The partition. Default: the profile's default_partition if it fits, else another one that fits."),
  ACCOUNT(
      "account", ValueType.ACCOUNT, "The Slurm account to charge. Default: the profile's account."),
  QOS("qos", NAME_WORD, "Slurm's quality of service. Default: the profile's qos."),
  CONSTRAINT(
      "constraint", ValueType.TEXT, "Node features that the job needs, in Slurm's notation."),
  RESERVATION("reservation", NAME_WORD, "The Slurm reservation to use."),
  NODELIST("nodelist", ValueType.HOSTLIST, "Nodes that the job must have, in Slurm's notation."),
  LICENSES(
      "licenses",
      ValueType.text(
          "licences such as matlab:2 or scratch,fluent@server:4",
          "[A-Za-z0-9_][A-Za-z0-9_.@:,-]{0,1022}"),
      "Licences that Slurm counts and that each task holds while it runs, in Slurm's notation."),
  EXCLUDE(
      "exclude",
      ValueType.HOSTLIST,
      "Nodes that the job must not have, in Slurm's notation; or `bad`: all that failed, or that a check found broken, in the last week."),
  NTASKS(
      "ntasks",
      number(),
      "The number of processes that `srun` starts in the job, on all nodes together. `cpus_per_task` counts for each of them. Without `nodes`, Slurm chooses the number of nodes."),
  NTASKS_PER_NODE(
      "ntasks_per_node",
      number(),
      "The number of processes that `srun` starts on each node. `cpus_per_task` counts for each of them."),
  NTASKS_PER_SOCKET("ntasks_per_socket", number(), "The most processes on a socket of a node."),
  NTASKS_PER_CORE("ntasks_per_core", number(), "The most processes on a core."),
  NTASKS_PER_GPU(
      "ntasks_per_gpu", number(), "The number of processes that `srun` starts for each GPU."),
  GPUS("gpus", number(), "The GPUs of the job, on all nodes together."),
  GPUS_PER_TASK("gpus_per_task", number(), "The GPUs of each process that `srun` starts."),
  CPUS_PER_GPU("cpus_per_gpu", number(), "The CPUs for each GPU, in place of `cpus_per_task`."),
  MEMORY_PER_CPU("memory_per_cpu", size(), "Memory for each CPU, in place of `memory`."),
  MEMORY_PER_GPU("memory_per_gpu", size(), "Memory for each GPU, in place of `memory`."),
  MINCPUS("mincpus", number(), "The least number of CPUs on each node."),
  HINT(
      "hint",
      ValueType.choice("compute_bound", "memory_bound", "multithread", "nomultithread"),
      "How the job uses the threads of a core. With `nomultithread`, each CPU is a whole core."),
  THREADS_PER_CORE(
      "threads_per_core",
      number(),
      "The threads of a core that the job uses. With 1, each CPU is a whole core."),
  SBATCH_OPTIONS(
      "sbatch_options",
      ValueType.TEXT,
      "Options of `sbatch` that do not change the price, such as `--switches=1 --wait-all-nodes=1`. sbatch gets them unchanged.");

  /** The value of {@code exclude} for the nodes that are known to be bad at the submit. */
  public static final String BAD = "bad";

  private final String key;

  @SuppressWarnings("ImmutableEnumChecker") // Nobody changes the set inside a ValueType.
  private final ValueType type;

  private final String description;

  ResourceOption(String key, ValueType type, String description) {
    this.key = key;
    this.type = type;
    this.description = description;
  }

  private static ValueType number() {
    return ValueType.count("a whole number such as 8", "[1-9][0-9]{0,5}");
  }

  private static ValueType size() {
    return ValueType.text("a size such as 4G or 4000M", "[1-9][0-9]{0,11}[KMGT]");
  }

  /** Returns the key in the config and in plan.json. */
  public String key() {
    return key;
  }

  /** Returns the long name in sbatch(1). */
  public String option() {
    return key.replace("memory", "mem").replace('_', '-');
  }

  /**
   * Returns whether the option says how many processes {@code srun} starts and with what, so that
   * only a script that calls srun itself can have it.
   */
  public boolean countsProcesses() {
    return compareTo(NTASKS) >= 0 && compareTo(CPUS_PER_GPU) <= 0;
  }

  /** Returns whether the option counts GPUs, or something for each GPU. */
  public boolean countsGpus() {
    return key.contains("gpu");
  }

  /** Returns whether the option changes how much of the nodes a job gets. */
  public boolean sizes() {
    return compareTo(NTASKS) >= 0 && this != SBATCH_OPTIONS;
  }

  /**
   * Returns the name in an approval. There {@code reservation} is the money that a run reserves,
   * and {@code gpus} are those that are billed.
   */
  public String approvalKey() {
    return this == RESERVATION || this == GPUS ? "slurm_" + key : key;
  }

  Schema.KnownKey known() {
    return Schema.optional(key, type, description);
  }
}
