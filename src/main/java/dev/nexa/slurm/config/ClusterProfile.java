package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.listOf;
import static dev.nexa.slurm.config.Shape.mapOf;
import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.required;
import static dev.nexa.slurm.config.Shape.section;
import static dev.nexa.slurm.config.Shape.withDefault;

import dev.nexa.slurm.config.Shape.Section;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.units.BillingWeights;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One cluster, as configs/clusters/NAME.yaml describes it.
 *
 * @param name the file's name without its ending
 * @param scheduler {@code slurm}, or {@code local} for this machine
 * @param accelerator {@code cuda}, or {@code cpu} where GPU ranks run on CPUs: then no GPU is asked
 *     for
 * @param partitions what is known of the partitions; empty where nothing is
 * @param health what a node must have; empty where nodes are not checked
 * @param energy what its energy means; empty where that is not known
 * @param overTimeLimit slurm.conf's OverTimeLimit: how long a job may run over its limit
 * @param killWait slurm.conf's KillWait: between SIGTERM and SIGKILL
 * @param messageTimeout slurm.conf's MessageTimeout
 * @param maxArraySize slurm.conf's MaxArraySize: one more than the highest index
 * @param slurmVersion the version that the values were read from
 * @param billingRule {@code sum}, {@code max_tres} or {@code max_tres_gres}: see {@link
 *     BillingWeights.Rule}
 * @param sacctFields what its sacct has beside the fields of every version
 */
public record ClusterProfile(
    String name,
    String scheduler,
    String accelerator,
    Optional<String> defaultPartition,
    Map<String, Partition> partitions,
    Optional<String> account,
    Optional<String> qos,
    Optional<String> gpuType,
    String priceBook,
    Storage storage,
    Software software,
    Map<String, String> env,
    Optional<Health> health,
    Optional<Energy> energy,
    Duration overTimeLimit,
    Duration killWait,
    Duration messageTimeout,
    int maxArraySize,
    Optional<String> slurmVersion,
    String billingRule,
    List<String> sacctFields) {

  private static final Section PARTITION =
      section(
          withDefault(
              "exclusive", ValueType.BOOLEAN, "false", "Whether jobs always get whole nodes."),
          optional(
              "cpus_per_node",
              ValueType.integer(1, 4096),
              "CPUs of a node; needed where exclusive."),
          optional(
              "gpus_per_node",
              ValueType.integer(0, 64),
              "GPUs of a node; needed where exclusive, 0 for none."),
          optional("gpu_type", ValueType.NAME_WORD, "The type of its GPUs."),
          optional(
              "memory_per_node", ValueType.MEMORY, "Memory of a node; needed where exclusive."),
          optional(
              "default_memory_per_cpu",
              ValueType.MEMORY,
              "Its DefMemPerCPU: memory of jobs that name none, for each CPU."),
          optional(
              "default_memory_per_node",
              ValueType.MEMORY,
              "Its DefMemPerNode: memory of jobs that name none, on each node."),
          optional(
              "max_nodes",
              ValueType.integer(1, 100_000),
              "Nodes of one job at most: its MaxNodes, or as many as it has."),
          optional("max_time", ValueType.TIME, "Its MaxTime: no job may ask for more."),
          optional(
              "over_time_limit_minutes",
              ValueType.integer(0, 65_533),
              "Its own OverTimeLimit; the cluster's where not given."),
          optional(
              "billing_weights",
              ValueType.text(
                  "TRES weights such as CPU=1.0,Mem=0.25G,GRES/gpu=2.0", BillingWeights.FORM),
              "Its TRESBillingWeights, CPU=1 where it has none: needed where billing units have a price; what Slurm billed is checked against them when a run is settled."),
          withDefault(
              "by_name_only",
              ValueType.BOOLEAN,
              "false",
              "Only for jobs that name it: it is never chosen for a job that names no partition."));

  /** Fields that not every sacct has and that give a figure in a cost file. */
  public static final List<String> SACCT_FIELDS = List.of("Planned", "Reserved", "Restarts");

  private static final Section SLURM =
      section(
          withDefault(
              "over_time_limit_minutes",
              ValueType.integer(0, 65_533),
              "0",
              "slurm.conf's OverTimeLimit; UNLIMITED has no upper cost and can't be used."),
          withDefault(
              "kill_wait_seconds", ValueType.integer(0, 65_535), "30", "slurm.conf's KillWait."),
          withDefault(
              "message_timeout_seconds",
              ValueType.integer(1, 3600),
              "10",
              "slurm.conf's MessageTimeout."),
          withDefault(
              "max_array_size",
              ValueType.integer(1, 4_000_001),
              "1001",
              "slurm.conf's MaxArraySize."),
          withDefault(
              "billing_rule",
              ValueType.choice("sum", "max_tres", "max_tres_gres"),
              "sum",
              "How billing weights add up: MAX_TRES or MAX_TRES_GRES of slurm.conf's PriorityFlags, else sum."),
          optional(
              "version",
              ValueType.TEXT,
              "Slurm's version when the profile was written; only told."),
          optional(
              "sacct_fields",
              listOf(ValueType.choice(SACCT_FIELDS.toArray(new String[0]))),
              "What this Slurm's sacct has beside the fields of every version: `reconcile` asks for them too."));

  static final Section SPEC =
      section(
          withDefault(
              "scheduler", ValueType.choice("slurm", "local"), "slurm", "What runs the jobs."),
          withDefault(
              "accelerator",
              ValueType.choice("cuda", "cpu"),
              "cuda",
              "`cpu`: ranks that would use GPUs run on CPUs, and no GPU is asked for."),
          optional(
              "default_partition",
              ValueType.NAME_WORD,
              "Partition of jobs that name none, if they fit; otherwise the one that fits and wastes least."),
          optional(
              "partitions",
              mapOf(ValueType.NAME_WORD, PARTITION),
              "What is known of the partitions; a job that names another one is refused."),
          optional("account", ValueType.NAME_WORD, "Account of jobs that name none."),
          optional("qos", ValueType.NAME_WORD, "QOS of jobs that name none."),
          optional("gpu_type", ValueType.NAME_WORD, "GPU type of jobs that name none."),
          withDefault(
              "price_book",
              ValueType.NAME_WORD,
              "default",
              "The price book, configs/prices/NAME.yaml."),
          required(
              "storage",
              section(
                  required("scratch", ValueType.PATH, "NEXA_SCRATCH: fast, dies with the job."),
                  required("durable", ValueType.PATH, "NEXA_DURABLE: the source of truth."),
                  required("shared", ValueType.PATH, "NEXA_SHARED: seen by every node."),
                  optional(
                      "retention_days",
                      ValueType.integer(1, 36_500),
                      "How long a run's durable files are kept: what they are charged for.")),
              "The three storage tiers."),
          optional(
              "software",
              Software.KEYS,
              "What every job loads; a config's own replaces it key by key."),
          optional(
              "env",
              mapOf(
                  ValueType.text("a variable's name", "[A-Za-z_][A-Za-z0-9_]{0,127}"),
                  ValueType.LITERAL),
              "Environment variables of every job on this cluster."),
          withDefault(
              "health_check",
              ValueType.BOOLEAN,
              "true",
              "Whether a job checks its nodes before it starts."),
          optional("health", Health.KEYS, "What a node must have to be well."),
          optional("energy", Energy.KEYS, "What the cluster's energy means, for CO2e."),
          optional("slurm", SLURM, "Values of slurm.conf that limits and prices depend on."));

  /** The three storage tiers of the seeds. */
  public record Storage(
      String scratch, String durable, String shared, Optional<Integer> retentionDays) {}

  /**
   * What is known of a partition. Memory is in bytes.
   *
   * @param defaultMemoryPerCpu of jobs that name none
   * @param maxNodes of one job
   * @param overTimeLimit where it has its own
   * @param byNameOnly whether jobs that name no partition are kept out
   * @param billingWeights its TRESBillingWeights; empty where the profile does not tell
   */
  public record Partition(
      boolean exclusive,
      Optional<Integer> cpusPerNode,
      Optional<Integer> gpusPerNode,
      Optional<String> gpuType,
      Optional<Long> memoryPerNode,
      Optional<Long> defaultMemoryPerCpu,
      Optional<Long> defaultMemoryPerNode,
      Optional<Integer> maxNodes,
      Optional<Duration> maxTime,
      Optional<Duration> overTimeLimit,
      boolean byNameOnly,
      Optional<String> billingWeights) {

    /** Whether it is known what a whole node costs. */
    public boolean sized() {
      return cpusPerNode.isPresent() && memoryPerNode.isPresent() && gpusPerNode.isPresent();
    }

    private static Partition from(Values values) {
      Optional<Integer> overTime = values.optionalInteger("over_time_limit_minutes");
      return new Partition(
          values.flag("exclusive"),
          values.optionalInteger("cpus_per_node"),
          values.optionalInteger("gpus_per_node"),
          values.optionalText("gpu_type"),
          values.optionalBytes("memory_per_node"),
          values.optionalBytes("default_memory_per_cpu"),
          values.optionalBytes("default_memory_per_node"),
          values.optionalInteger("max_nodes"),
          values.optionalDuration("max_time"),
          overTime.isPresent() ? Optional.of(Duration.ofMinutes(overTime.get())) : Optional.empty(),
          values.flag("by_name_only"),
          values.optionalText("billing_weights"));
    }
  }

  static ClusterProfile from(String name, Values values) {
    Values storage = values.section("storage");
    Values slurm = values.section("slurm");
    return new ClusterProfile(
        name,
        values.text("scheduler"),
        values.text("accelerator"),
        values.optionalText("default_partition"),
        partitions(values.section("partitions")),
        values.optionalText("account"),
        values.optionalText("qos"),
        values.optionalText("gpu_type"),
        values.text("price_book"),
        new Storage(
            storage.text("scratch"),
            storage.text("durable"),
            storage.text("shared"),
            storage.optionalInteger("retention_days")),
        Software.from(values.section("software")),
        values.textMap("env"),
        values.flag("health_check")
            ? Optional.of(Health.from(values.section("health")))
            : Optional.empty(),
        values.has("energy")
            ? Optional.of(Energy.from(values.section("energy")))
            : Optional.empty(),
        Duration.ofMinutes(slurm.integer("over_time_limit_minutes")),
        Duration.ofSeconds(slurm.integer("kill_wait_seconds")),
        Duration.ofSeconds(slurm.integer("message_timeout_seconds")),
        slurm.integer("max_array_size"),
        slurm.optionalText("version"),
        slurm.text("billing_rule"),
        slurm.has("sacct_fields") ? slurm.texts("sacct_fields") : List.of());
  }

  static void check(Values values, List<Problem> problems) {
    Values storage = values.section("storage");
    for (String tier : List.of("scratch", "durable", "shared")) {
      String path = storage.optionalText(tier).orElse("/");
      if (!path.startsWith("/")) {
        problems.add(
            storage.problem(
                tier, "expected an absolute path, got '" + YamlNode.shortened(path) + "'"));
      }
    }
    Software.check(values.section("software"), problems);
    Values partitions = values.section("partitions");
    for (String name : partitions.names()) {
      Values partition = partitions.section(name);
      boolean sized =
          partition.has("cpus_per_node")
              && partition.has("memory_per_node")
              && partition.has("gpus_per_node");
      if (partition.optional("exclusive", Boolean.class).orElse(false) && !sized) {
        problems.add(
            partition.problem(
                "exclusive",
                "whole nodes are paid for: give cpus_per_node, memory_per_node and gpus_per_node (0 for none)"));
      }
      if (partition.has("default_memory_per_cpu") && partition.has("default_memory_per_node")) {
        problems.add(
            partition.problem(
                "default_memory_per_node",
                "give either it or default_memory_per_cpu, as Slurm has it"));
      }
    }
    knownDefault(values, partitions.names(), problems);
  }

  private static void knownDefault(Values values, List<String> names, List<Problem> problems) {
    String partition = values.optionalText("default_partition").orElse("");
    if (!partition.isEmpty() && !names.isEmpty() && !names.contains(partition)) {
      problems.add(
          values.problem(
              "default_partition",
              "is none of the partitions"
                  + Nearest.hint(partition, names)
                  + "; they are "
                  + String.join(", ", names)));
    }
  }

  private static Map<String, Partition> partitions(Values values) {
    Map<String, Partition> partitions = new LinkedHashMap<>();
    for (String name : values.names()) {
      partitions.put(name, Partition.from(values.section(name)));
    }
    return partitions;
  }
}
