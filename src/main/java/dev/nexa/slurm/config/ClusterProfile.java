package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.mapOf;
import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.required;
import static dev.nexa.slurm.config.Shape.section;
import static dev.nexa.slurm.config.Shape.withDefault;

import dev.nexa.slurm.config.Shape.Section;
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
 * @param overTimeLimit slurm.conf's OverTimeLimit: how long a job may run over its limit
 * @param killWait slurm.conf's KillWait: between SIGTERM and SIGKILL
 * @param messageTimeout slurm.conf's MessageTimeout
 * @param maxArraySize slurm.conf's MaxArraySize: one more than the highest index
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
    Duration overTimeLimit,
    Duration killWait,
    Duration messageTimeout,
    int maxArraySize) {

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
          optional("max_time", ValueType.TIME, "Its MaxTime: no job may ask for more."));

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
              "slurm.conf's MaxArraySize."));

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
              "Partition of jobs that name none; Slurm's own otherwise."),
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
                  required("shared", ValueType.PATH, "NEXA_SHARED: seen by every node.")),
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
          optional("slurm", SLURM, "Values of slurm.conf that limits and prices depend on."));

  /** The three storage tiers of the seeds. */
  public record Storage(String scratch, String durable, String shared) {}

  /** What is known of a partition. */
  public record Partition(
      boolean exclusive,
      Optional<Integer> cpusPerNode,
      Optional<Integer> gpusPerNode,
      Optional<String> gpuType,
      Optional<Long> memoryPerNode,
      Optional<Duration> maxTime) {}

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
        new Storage(storage.text("scratch"), storage.text("durable"), storage.text("shared")),
        Software.from(values.section("software")),
        values.textMap("env"),
        values.flag("health_check")
            ? Optional.of(Health.from(values.section("health")))
            : Optional.empty(),
        Duration.ofMinutes(slurm.integer("over_time_limit_minutes")),
        Duration.ofSeconds(slurm.integer("kill_wait_seconds")),
        Duration.ofSeconds(slurm.integer("message_timeout_seconds")),
        slurm.integer("max_array_size"));
  }

  static void check(Values values, List<Problem> problems) {
    Values storage = values.section("storage");
    for (String tier : storage.names()) {
      if (!storage.text(tier).startsWith("/")) {
        problems.add(
            storage.problem(tier, "expected an absolute path, got '" + storage.text(tier) + "'"));
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
    }
  }

  private static Map<String, Partition> partitions(Values values) {
    Map<String, Partition> partitions = new LinkedHashMap<>();
    for (String name : values.names()) {
      Values partition = values.section(name);
      partitions.put(
          name,
          new Partition(
              partition.flag("exclusive"),
              partition.optionalInteger("cpus_per_node"),
              partition.optionalInteger("gpus_per_node"),
              partition.optionalText("gpu_type"),
              partition.optionalBytes("memory_per_node"),
              partition.optionalDuration("max_time")));
    }
    return partitions;
  }
}
