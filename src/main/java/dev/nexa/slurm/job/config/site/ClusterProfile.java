package dev.nexa.slurm.job.config.site;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.job.config.shared.S3Settings;
import dev.nexa.slurm.job.config.shared.Software;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A cluster profile: one cluster, as configs/clusters/NAME.yaml describes it.
 *
 * @param name the file's name without its extension
 * @param scheduler {@code slurm}, or {@code local} for this machine without Slurm
 * @param accelerator {@code cuda}; with {@code cpu}, ranks run on CPUs and jobs ask for no GPU
 * @param usual the values for jobs that do not name their own
 * @param partitions the known partitions by name; empty if the profile lists none
 * @param priceBook the name of the cluster's price book
 * @param nodes the software and the variables of every job on its nodes
 * @param health the conditions that a node must meet; empty if nodes are not checked
 * @param energy figures to compute CO2e; empty if the profile gives none
 */
public record ClusterProfile(
    String name,
    String file,
    String scheduler,
    String accelerator,
    Usual usual,
    Map<String, Partition> partitions,
    String priceBook,
    Storage storage,
    Nodes nodes,
    Optional<Health> health,
    Optional<Energy> energy,
    SlurmConf slurm) {

  /**
   * The values for jobs that do not name their own.
   *
   * @param partition taken if the job fits in it
   */
  public record Usual(
      Optional<String> partition,
      Optional<String> account,
      Optional<String> qos,
      Optional<String> gpuType) {}

  /**
   * The software and the variables of every job on its nodes.
   *
   * @param java the nodes' {@code java}, for the stages that run our own program
   */
  public record Nodes(Software software, Map<String, String> env, String java) {}

  /**
   * Values of slurm.conf that limits and prices depend on.
   *
   * @param overTimeLimit how long a job may exceed its time limit
   * @param killWait the time between SIGTERM and SIGKILL
   * @param maxArraySize the highest array index plus one
   * @param version Slurm's version when the profile was written, for information only
   * @param billingRule {@code sum}, {@code max_tres} or {@code max_tres_gres}: see {@link
   *     BillingWeights.Rule}
   * @param sacctFields the fields in {@link #SACCT_FIELDS} that this cluster's sacct has
   */
  public record SlurmConf(
      Duration overTimeLimit,
      Duration killWait,
      Duration messageTimeout,
      int maxArraySize,
      Optional<String> version,
      String billingRule,
      List<String> sacctFields) {}

  private static final Section PARTITION =
      section(
          withDefault(
              "exclusive", ValueType.BOOLEAN, "false", "Whether jobs always get whole nodes."),
          optional(
              "cpus_per_node",
              ValueType.integer(1, 4096),
              "CPUs of a node. Required if exclusive."),
          optional(
              "gpus_per_node",
              ValueType.integer(0, 64),
              "GPUs of a node, 0 for none. Required if exclusive."),
          optional("gpu_type", ValueType.NAME_WORD, "The type of the partition's GPUs."),
          optional("memory_per_node", ValueType.MEMORY, "Memory of a node. Required if exclusive."),
          withDefault(
              "cpus_multiple_of",
              ValueType.integer(1, 4096),
              "1",
              "A job's CPUs on a node are rounded up to a multiple of this: the threads of a core if slurm.conf's"
                  + " SelectTypeParameters has CR_Core, the CPUs of a node with CR_Socket."),
          optional(
              "max_memory_per_cpu",
              ValueType.MEMORY,
              "The partition's MaxMemPerCPU, or the cluster's. Slurm gives a job with more memory more CPUs."),
          optional(
              "default_cpus_per_gpu",
              ValueType.integer(1, 4096),
              "DefCpuPerGPU of the partition's JobDefaults, or the cluster's: for jobs that name no CPUs."),
          optional(
              "most_cpus_per_node",
              ValueType.integer(1, 4096),
              "CPUs of the largest node: what a job that gets a whole node can get. Default: cpus_per_node."),
          optional(
              "most_gpus_per_node",
              ValueType.integer(0, 64),
              "GPUs of the node that has the most, in the same way. Default: gpus_per_node."),
          optional(
              "most_memory_per_node",
              ValueType.MEMORY,
              "Memory of the node that has the most, in the same way. Default: memory_per_node."),
          optional(
              "default_memory_per_cpu",
              ValueType.MEMORY,
              "The partition's DefMemPerCPU: memory for each CPU of a job that asks for none."),
          optional(
              "default_memory_per_node",
              ValueType.MEMORY,
              "The partition's DefMemPerNode: memory on each node of a job that asks for none."),
          optional(
              "max_nodes",
              ValueType.integer(1, 100_000),
              "The most nodes of one job: the partition's MaxNodes, or the number of its nodes."),
          optional(
              "max_time",
              ValueType.TIME,
              "The partition's MaxTime: the longest time limit that a job may ask for."),
          optional(
              "over_time_limit_minutes",
              ValueType.integer(0, 65_533),
              "The partition's own OverTimeLimit. Default: the cluster's."),
          optional(
              "billing_weights",
              ValueType.text(
                  "TRES weights such as CPU=1.0,Mem=0.25G,GRES/gpu=2.0", BillingWeights.FORM),
              "The partition's TRESBillingWeights, or CPU=1 if it has none. Required if billing units have a"
                  + " price. When a run is settled, the units that Slurm billed are checked against these weights."),
          withDefault(
              "by_name_only",
              ValueType.BOOLEAN,
              "false",
              "Whether the partition is only for jobs that name it. For a job that names no partition, it is"
                  + " chosen only if it is default_partition."));

  /** The scheduler's name for this machine without Slurm; every other profile is of Slurm. */
  public static final String LOCAL = "local";

  /** Fields of sacct that not every Slurm version has and that the cost file uses. */
  public static final List<String> SACCT_FIELDS = List.of("Planned", "Reserved", "Restarts");

  private static final Section SLURM =
      section(
          withDefault(
              "over_time_limit_minutes",
              ValueType.integer(0, 65_533),
              "0",
              "slurm.conf's OverTimeLimit. UNLIMITED is not possible, because a run would have no upper cost."),
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
              "How billing weights are combined: as MAX_TRES or MAX_TRES_GRES if slurm.conf's PriorityFlags has"
                  + " one of them, else sum."),
          optional(
              "version",
              ValueType.TEXT,
              "Slurm's version when the profile was written, for information only."),
          optional(
              "sacct_fields",
              listOf(ValueType.choice(SACCT_FIELDS.toArray(new String[0]))),
              "Fields of this Slurm's sacct that not every version has. `reconcile` asks for them too."));

  /** Here and not in S3Settings: a submit does not load that class. */
  private static final Section S3 =
      section(
          optional(
              "endpoint",
              ValueType.STORE_URL,
              "The store's URL, for MinIO, Ceph or Backblaze. Default: AWS."),
          optional(
              "region",
              ValueType.text("a region such as us-east-1", "[a-z0-9-]{2,40}"),
              "The bucket's region. Default: the region that the AWS SDK finds."),
          optional(
              "path_style",
              ValueType.BOOLEAN,
              "Whether the bucket's name is in the URL's path, as MinIO and Ceph need it. Default: false."),
          optional(
              "storage_class",
              ValueType.STORAGE_CLASS,
              "The storage class of new objects. Default: the bucket's."),
          optional(
              "sse",
              ValueType.choice("AES256", "aws:kms"),
              "The encryption of new objects at rest. Default: the bucket's."),
          optional("sse_kms_key", ValueType.TEXT, "The KMS key for `sse: aws:kms`."));

  public static final Section SPEC =
      section(
          withDefault(
              "scheduler",
              ValueType.choice("slurm", "local"),
              "slurm",
              "The scheduler that runs the jobs: Slurm, or this machine without Slurm."),
          withDefault(
              "accelerator",
              ValueType.choice("cuda", "cpu"),
              "cuda",
              "With `cpu`, ranks run on CPUs instead of GPUs, and jobs ask for no GPU."),
          optional(
              "default_partition",
              ValueType.NAME_WORD,
              "The partition of jobs that name none, if they fit. Otherwise nexa-slurm takes the"
                  + " partition that fits and has the smallest nodes."),
          optional(
              "partitions",
              mapOf(ValueType.NAME_WORD, PARTITION),
              "The cluster's partitions. A job that names another partition is refused."),
          optional("account", ValueType.ACCOUNT, "The account of jobs that name none."),
          optional("qos", ValueType.NAME_WORD, "The QOS of jobs that name none."),
          optional("gpu_type", ValueType.NAME_WORD, "The GPU type of jobs that name none."),
          withDefault(
              "price_book",
              ValueType.NAME_WORD,
              "default",
              "The price book, configs/prices/NAME.yaml."),
          required(
              "storage",
              section(
                  required(
                      "scratch",
                      ValueType.PATH,
                      "NEXA_SCRATCH: fast storage for files that are not needed after the job."),
                  required("durable", ValueType.PATH, "NEXA_DURABLE: storage that is kept."),
                  required("shared", ValueType.PATH, "NEXA_SHARED: storage that every node sees."),
                  optional(
                      "retention_days",
                      ValueType.integer(1, 36_500),
                      "How many days a run's durable files are kept, and charged for."),
                  optional(
                      "s3_prefix",
                      ValueType.TEXT,
                      "NEXA_S3_PREFIX: where `sync` keeps the durable files in S3, such as s3://bucket/prefix."),
                  optional("s3", S3, "How `sync` and `archive` reach S3."),
                  optional(
                      "archive",
                      ValueType.TEXT,
                      "Where `archive` keeps the bundles of runs: an absolute path, or s3://bucket/prefix."),
                  optional(
                      "archive_class",
                      ValueType.text("a storage class such as DEEP_ARCHIVE", "[A-Z0-9_]{1,40}"),
                      "The storage class of bundles in S3. Default: the bucket's.")),
              "The three storage tiers."),
          optional(
              "software",
              Software.KEYS,
              "The software that every job loads. A config's own software replaces it key by key."),
          optional(
              "env",
              mapOf(
                  ValueType.text("a variable's name", "[A-Za-z_][A-Za-z0-9_]{0,127}"),
                  ValueType.LITERAL),
              "Environment variables of every job on this cluster."),
          withDefault(
              "java",
              ValueType.PATH,
              "java",
              "The nodes' `java`, version 17 or newer: a name on the PATH or an absolute path. Only `backend: data`"
                  + " and `backend: sync` need it."),
          withDefault(
              "health_check",
              ValueType.BOOLEAN,
              "true",
              "Whether a job checks its nodes before it starts."),
          optional("health", Health.KEYS, "Conditions that a node must meet to pass the check."),
          optional("energy", Energy.KEYS, "Figures to compute CO2e from the cluster's energy."),
          optional(
              "defaults",
              RunDefaults.KEYS,
              "Values for runs that leave out stage, backend or resources. A complete config takes nothing from"
                  + " here."),
          optional("slurm", SLURM, "Values of slurm.conf on which limits and prices depend."));

  /** Returns the GPU types that the profile names: its own type, then its partitions' types. */
  public Set<String> gpuTypes() {
    Set<String> types = new LinkedHashSet<>();
    usual.gpuType.ifPresent(types::add);
    partitions.values().forEach(partition -> partition.gpuType().ifPresent(types::add));
    return types;
  }

  /** Returns whether jobs run on this machine without Slurm. */
  public boolean isLocal() {
    return scheduler.equals(LOCAL);
  }

  /**
   * The folders of the three storage tiers, as absolute paths.
   *
   * @param retentionDays how many days durable files are kept and charged for; empty if not given
   * @param s3Prefix the address in S3 that durable files are synced with; empty if not given
   * @param s3 how S3 is reached; empty if the profile does not say
   * @param archive where bundles of runs are kept: a folder, or an address in S3
   * @param archiveClass the storage class of bundles in S3
   */
  public record Storage(
      String scratch,
      String durable,
      String shared,
      Optional<Integer> retentionDays,
      Optional<String> s3Prefix,
      Optional<S3Settings> s3,
      Optional<String> archive,
      Optional<String> archiveClass) {

    /** Returns the tiers, with their folders, that this user cannot write to from this machine. */
    public List<String> notWritable() {
      List<String> not = new ArrayList<>();
      notWritable("scratch", scratch, not);
      notWritable("durable", durable, not);
      notWritable("shared", shared, not);
      return not;
    }

    /**
     * Adds the tier if this user cannot write to its folder, or to the nearest existing parent,
     * where it would be made.
     */
    private static void notWritable(String tier, String folder, List<String> not) {
      Path path = DurableFiles.nearest(Path.of(folder));
      if (!Files.isDirectory(path) || !Files.isWritable(path)) {
        not.add(tier + " (" + folder + ")");
      }
    }

    /** Creates tiers that are not synced with S3. */
    public Storage(String scratch, String durable, String shared, Optional<Integer> retentionDays) {
      this(
          scratch,
          durable,
          shared,
          retentionDays,
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());
    }

    /**
     * Replaces {@code ${scratch}}, {@code ${durable}} and {@code ${shared}} in the text by the
     * tiers' paths.
     */
    public String written(String text) {
      return text.replace("${scratch}", scratch)
          .replace("${durable}", durable)
          .replace("${shared}", shared);
    }
  }

  /**
   * One partition of the profile. Memory is in bytes. An empty value is unknown.
   *
   * @param sharing what jobs get of the nodes beyond what they ask for
   * @param defaultMemoryPerCpu memory for each CPU of a job that asks for none (DefMemPerCPU)
   * @param defaultMemoryPerNode memory on each node of a job that asks for none (DefMemPerNode)
   * @param maxNodes the most nodes of one job
   * @param maxTime the longest time limit of a job
   * @param overTimeLimit the partition's own OverTimeLimit; empty if the cluster's applies
   * @param byNameOnly whether only jobs that name the partition may use it
   * @param billingWeights its TRESBillingWeights; empty if the profile gives none
   */
  public record Partition(
      NodeSharing sharing,
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

    /** Returns whether jobs always get whole nodes. */
    public boolean exclusive() {
      return sharing.exclusive();
    }

    /**
     * Returns whether the CPUs, memory and GPUs of a node are known, so that a whole node can be
     * priced.
     */
    public boolean sized() {
      return sharing.mostCpus().isPresent()
          && memoryPerNode.isPresent()
          && sharing.mostGpus().isPresent();
    }

    private static Partition from(Values values) {
      Optional<Integer> overTime = values.optionalInteger("over_time_limit_minutes");
      Optional<Integer> cpus = values.optionalInteger("cpus_per_node");
      Optional<Integer> gpus = values.optionalInteger("gpus_per_node");
      return new Partition(
          new NodeSharing(
              values.flag("exclusive"),
              values.integer("cpus_multiple_of"),
              values.optionalBytes("max_memory_per_cpu"),
              values.optionalInteger("most_cpus_per_node").or(() -> cpus),
              values.optionalInteger("most_gpus_per_node").or(() -> gpus),
              values
                  .optionalBytes("most_memory_per_node")
                  .or(() -> values.optionalBytes("memory_per_node")),
              values.optionalInteger("default_cpus_per_gpu").orElse(0)),
          cpus,
          gpus,
          values.optionalText("gpu_type"),
          values.optionalBytes("memory_per_node"),
          values.optionalBytes("default_memory_per_cpu"),
          values.optionalBytes("default_memory_per_node"),
          values.optionalInteger("max_nodes"),
          values.optionalDuration("max_time"),
          overTime.map(Duration::ofMinutes),
          values.flag("by_name_only"),
          values.optionalText("billing_weights"));
    }
  }

  /**
   * Returns the names in {@code resources.partition}, which may be several with commas between;
   * empty if it is empty.
   */
  public static List<String> partitionNames(Optional<String> named) {
    return named.isEmpty() || named.get().isEmpty()
        ? List.of()
        : List.of(named.get().split(",", -1));
  }

  /** Returns the named partitions that the profile describes, in this order. */
  public List<Partition> known(Optional<String> named) {
    List<Partition> known = new ArrayList<>();
    for (String name : partitionNames(named)) {
      Partition partition = partitions.get(name);
      if (partition != null) {
        known.add(partition);
      }
    }
    return known;
  }

  public static ClusterProfile from(String name, String file, Values values) {
    Values storage = values.section("storage");
    Values slurm = values.section("slurm");
    return new ClusterProfile(
        name,
        file,
        values.text("scheduler"),
        values.text("accelerator"),
        new Usual(
            values.optionalText("default_partition"),
            values.optionalText("account"),
            values.optionalText("qos"),
            values.optionalText("gpu_type")),
        partitions(values.section("partitions")),
        values.text("price_book"),
        new Storage(
            storage.text("scratch"),
            storage.text("durable"),
            storage.text("shared"),
            storage.optionalInteger("retention_days"),
            storage.optionalText("s3_prefix"),
            storage.has("s3")
                ? Optional.of(S3Settings.from(storage.section("s3")))
                : Optional.empty(),
            storage.optionalText("archive"),
            storage.optionalText("archive_class")),
        new Nodes(
            Software.from(values.section("software")), values.textMap("env"), values.text("java")),
        values.flag("health_check")
            ? Optional.of(Health.from(values.section("health")))
            : Optional.empty(),
        values.has("energy")
            ? Optional.of(Energy.from(values.section("energy")))
            : Optional.empty(),
        new SlurmConf(
            Duration.ofMinutes(slurm.integer("over_time_limit_minutes")),
            Duration.ofSeconds(slurm.integer("kill_wait_seconds")),
            Duration.ofSeconds(slurm.integer("message_timeout_seconds")),
            slurm.integer("max_array_size"),
            slurm.optionalText("version"),
            slurm.text("billing_rule"),
            slurm.texts("sacct_fields")));
  }

  public static void check(Values values) {
    Values storage = values.section("storage");
    for (String tier : List.of("scratch", "durable", "shared")) {
      String path = storage.optionalText(tier).orElse("/");
      if (!path.startsWith("/")) {
        storage.report(tier, "expected an absolute path, got '" + YamlNode.shortened(path) + "'");
      }
    }
    String archive = storage.optionalText("archive").orElse("/");
    if (!archive.startsWith("/") && !archive.startsWith("s3://")) {
      storage.report(
          "archive",
          "expected an absolute path or s3://bucket/prefix, got '"
              + YamlNode.shortened(archive)
              + "'");
    }
    Software.check(values.section("software"));
    RunDefaults.check(values.section("defaults"));
    Values partitions = values.section("partitions");
    for (String name : partitions.names()) {
      Values partition = partitions.section(name);
      boolean sized =
          Stream.of("cpus_per_node", "memory_per_node", "gpus_per_node")
              .allMatch(size -> partition.has(size) || partition.isWrong(size));
      if (partition.optional("exclusive", Boolean.class).orElse(false) && !sized) {
        partition.report(
            "exclusive",
            "whole nodes are paid for: give cpus_per_node, memory_per_node and gpus_per_node (0 for none)");
      }
      if (partition.has("default_memory_per_cpu") && partition.has("default_memory_per_node")) {
        partition.report(
            "default_memory_per_node", "give either it or default_memory_per_cpu, as Slurm has it");
      }
    }
    knownDefault(values, partitions.names());
  }

  private static void knownDefault(Values values, List<String> names) {
    String partition = values.optionalText("default_partition").orElse("");
    if (!partition.isEmpty() && !names.isEmpty() && !names.contains(partition)) {
      values.report(
          "default_partition",
          "is none of the partitions%s; they are %s"
              .formatted(Nearest.hint(partition, names), String.join(", ", names)));
    }
  }

  private static Map<String, Partition> partitions(Values values) {
    Map<String, Partition> partitions = new LinkedHashMap<>();
    values.names().forEach(name -> partitions.put(name, Partition.from(values.section(name))));
    return partitions;
  }
}
