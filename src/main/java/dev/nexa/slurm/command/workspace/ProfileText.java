package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster.Partition;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster.Spread;
import dev.nexa.slurm.job.config.site.NodeSharing;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Formats a cluster profile as YAML, with comments that give the source of each value. */
public final class ProfileText {
  /** The valid names of partitions and GPU types in a cluster profile. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

  /** Text that YAML accepts without quotes. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z][A-Za-z0-9._-]*");

  private static final Set<String> NOT_PLAIN = Set.of("true", "false", "null");

  /** The valid values of TRESBillingWeights in a cluster profile. */
  private static final Pattern BILLING = Pattern.compile(BillingWeights.FORM);

  /** The most GPUs that a profile accepts. MIG slices may exceed it. */
  private static final int MOST_GPUS = 64;

  /** The default of RealMemory in MiB (slurm.conf(5)). */
  private static final int UNSET_MIB = 1;

  private static final int COMMENT_COLUMN = 42;

  private final SlurmCluster cluster;
  private final boolean cpuOnly;
  private final StringBuilder text = new StringBuilder();

  private ProfileText(SlurmCluster cluster, boolean cpuOnly) {
    this.cluster = cluster;
    this.cpuOnly = cpuOnly;
  }

  /**
   * Returns the file's text.
   *
   * @param command the command that writes the file and later reports differences
   * @param starter the starter's profile, which gives the storage and the defaults of runs, because
   *     Slurm does not report them. If it has {@code accelerator: cpu}, partitions with GPUs are
   *     left out as long as there are others
   */
  public static String of(SlurmCluster cluster, LocalDate read, String command, String starter) {
    boolean cpuOnly = starter.contains("\naccelerator: cpu\n");
    ProfileText profile = new ProfileText(cluster, cpuOnly);
    profile.line("# yaml-language-server: $schema=../../docs/schemas/cluster.schema.json");
    profile.line(
        "# Cluster %s, Slurm %s, as `%s` read it on %s."
            .formatted(comment(cluster.name()), comment(cluster.version()), command, read));
    profile.line(
        "# Correct the values that you know better. Run the command again to see where the cluster differs from this file.");
    profile.line("scheduler: slurm");
    if (cpuOnly) {
      profile.line("accelerator: cpu", "ranks run on CPUs over gloo; no GPU is asked for or paid");
    }
    profile.line("");
    profile.partitions();
    profile.line("");
    profile.line("# Slurm does not tell these. They are the starter's: check them.");
    profile.line("price_book: default", "configs/prices/default.yaml: put your own prices there");
    profile.text.append(block(starter, "storage"));
    if (cpuOnly
        || cluster.partitions().stream()
            .anyMatch(partition -> partition.nodes().gpus().most() > 0)) {
      profile.line("# For configs that leave out backend, resources or single keys of resources.");
      profile.text.append(block(starter, "defaults"));
    }
    profile.line("");
    profile.slurm();
    return profile.text.toString();
  }

  private void partitions() {
    List<Partition> named = new ArrayList<>();
    List<String> leftOut = new ArrayList<>();
    boolean withoutGpus =
        cluster.partitions().stream()
            .anyMatch(one -> one.nodes().gpus().most() == 0 && isName(one.name()));
    for (Partition partition : cluster.partitions()) {
      if (cpuOnly && withoutGpus && partition.nodes().gpus().most() > 0) {
        leftOut.add(partition.name() + " (its nodes have GPUs)");
      } else if (isName(partition.name())) {
        named.add(partition);
      } else {
        leftOut.add(partition.name() + " (not a name that a profile takes)");
      }
    }
    cluster.leftOut().forEach((name, why) -> leftOut.add(name + " (" + why + ")"));
    line("# From `scontrol show partition`; what a node has, from `sinfo -N`.");
    cluster
        .defaultPartition()
        .filter(name -> named.stream().anyMatch(one -> one.name().equals(name)))
        .ifPresent(name -> line("default_partition: " + word(name), "Default=YES"));
    line(named.isEmpty() ? "# None that can be used." : "partitions:");
    named.forEach(this::partition);
    leftOut.forEach(one -> line((named.isEmpty() ? "" : "  ") + "# left out: " + comment(one)));
  }

  private void partition(Partition partition) {
    String nodes =
        partition.nodes().count() == 1 ? "1 node: " : partition.nodes().count() + " nodes: ";
    line("  " + word(partition.name()) + ":", nodes + partition.nodes().names());
    if (partition.exclusive()) {
      line("    exclusive: true", "jobs get whole nodes, and pay for them");
    }
    node(partition, "cpus_per_node: ", "", partition.nodes().cpus());
    gpus(partition);
    node(partition, "memory_per_node: ", "M", partition.nodes().memoryMib());
    sharing(partition);
    if (partition.defaultMibPerCpu().isPresent()) {
      line(
          "    default_memory_per_cpu: " + partition.defaultMibPerCpu().get() + "M",
          "DefMemPerCPU");
    } else if (partition.defaultMibPerNode().isPresent()) {
      line(
          "    default_memory_per_node: " + partition.defaultMibPerNode().get() + "M",
          "DefMemPerNode");
    }
    long most = Math.min(partition.maxNodes().orElse(Long.MAX_VALUE), partition.nodes().count());
    line("    max_nodes: " + most, most == partition.nodes().count() ? "all it has" : "MaxNodes");
    if (partition.maxTime().isPresent()) {
      line("    max_time: " + TimeLimit.format(partition.maxTime().get()), "MaxTime");
    } else {
      line("    # no max_time", "MaxTime is UNLIMITED, or over a year");
    }
    partition
        .overTimeLimitMinutes()
        .map(minutes -> "    over_time_limit_minutes: " + minutes)
        .ifPresent(limit -> line(limit, "OverTimeLimit of the partition"));
    billing(partition.billingWeights());
    if (!partition.onlyFor().isEmpty()) {
      line("    by_name_only: true", partition.onlyFor() + ": delete this line if yours may");
    }
  }

  /** Adds what jobs get beyond what they ask for. A whole node can be larger than its limits. */
  private void sharing(Partition partition) {
    NodeSharing sharing = partition.sharing();
    if (sharing.cpusMultipleOf() > 1) {
      line(
          "    cpus_multiple_of: " + sharing.cpusMultipleOf(),
          "SelectTypeParameters: Slurm gives no part of a core");
    }
    if (sharing.maxMemoryPerCpu().isPresent()) {
      line(
          "    max_memory_per_cpu: " + (sharing.maxMemoryPerCpu().get() >> 20) + "M",
          "MaxMemPerCPU: for more memory Slurm gives more CPUs");
    }
    if (sharing.cpusPerGpu() > 0) {
      line(
          "    default_cpus_per_gpu: " + sharing.cpusPerGpu(),
          "DefCpuPerGPU: for a job that names no CPUs");
    }
    long cpus =
        partition.exclusive() ? partition.nodes().cpus().most() : partition.nodes().cpus().least();
    if (sharing.mostCpus().orElse(0) > Math.max(1, cpus)) {
      line("    most_cpus_per_node: " + sharing.mostCpus().get(), "what a whole node may cost");
    }
    if (sharing.mostGpus().orElse(0) > partition.nodes().gpus().least() && !partition.exclusive()) {
      line(
          "    most_gpus_per_node: " + Math.min(MOST_GPUS, sharing.mostGpus().get()),
          "what a whole node may cost");
    }
    Spread memory = partition.nodes().memoryMib();
    long mib = sharing.mostMemory().orElse(0L) >> 20;
    if (mib > Math.max(1, partition.exclusive() ? memory.most() : memory.least())) {
      line("    most_memory_per_node: " + mib + "M", "what all memory of a node may cost");
    }
  }

  /** Adds the billing weights. Without any, Slurm counts CPUs (slurm.conf(5)). */
  private void billing(String weights) {
    if (weights.isEmpty()) {
      line("    billing_weights: CPU=1", "no TRESBillingWeights: Slurm counts CPUs");
    } else if (BILLING.matcher(weights).matches()) {
      line("    billing_weights: \"" + weights + "\"", "TRESBillingWeights");
    } else {
      line("    # no billing_weights", weights + " is not what a profile takes");
    }
  }

  /**
   * Adds the smallest value of the nodes. If whole nodes are charged, adds the largest, because an
   * estimate is an upper bound.
   */
  private void node(Partition partition, String key, String unit, Spread spread) {
    if (spread.most() == 0) {
      line("    # no " + key.replace(": ", ""), "Slurm does not tell it");
      return;
    }
    long value = partition.exclusive() ? spread.most() : Math.max(1, spread.least());
    if (key.startsWith("gpus") && value > MOST_GPUS) {
      line("    " + key + MOST_GPUS, "the nodes have " + value + "; no more are taken");
      return;
    }
    if (key.startsWith("memory") && value == UNSET_MIB) {
      line("    " + key + "1M", "RealMemory is not set: jobs that ask for memory are refused");
      return;
    }
    line("    " + key + size(value, unit), spread.same() ? "" : differ(partition, unit, spread));
  }

  private static String differ(Partition partition, String unit, Spread spread) {
    return "the nodes have %s to %s: %s"
        .formatted(
            size(spread.least(), unit),
            size(spread.most(), unit),
            partition.exclusive() ? "the most is paid for" : "each has this");
  }

  private void gpus(Partition partition) {
    Spread gpus = partition.nodes().gpus();
    if (gpus.most() == 0) {
      line("    gpus_per_node: 0");
      return;
    }
    if (gpus.least() == 0 && !partition.exclusive()) {
      line("    # no gpus_per_node", "the nodes have 0 to " + gpus.most());
    } else {
      node(partition, "gpus_per_node: ", "", gpus);
    }
    String types = String.join(", ", partition.nodes().gpuTypes());
    if (partition.nodes().gpuTypes().size() > 1) {
      String several = types.startsWith(", ") ? types.substring(2) + " and untyped" : types;
      line("    # no gpu_type", "there are several: " + several);
    } else if (types.isEmpty()) {
      line("    # no gpu_type", "Gres names none, and prices need one");
    } else if (NAME.matcher(types).matches()) {
      line("    gpu_type: " + word(types));
    } else {
      line("    # no gpu_type", types + " is not a name that a profile takes");
    }
  }

  private void slurm() {
    line(
        "# From `scontrol show config`: the estimate's upper bound and the size of arrays rest on these.");
    line("slurm:");
    line("  version: \"" + comment(cluster.version()).replace("\"", "").replace("\\", "") + "\"");
    line("  over_time_limit_minutes: " + cluster.overTimeLimitMinutes(), "OverTimeLimit");
    cluster
        .killWaitSeconds()
        .ifPresent(seconds -> line("  kill_wait_seconds: " + seconds, "KillWait"));
    cluster
        .messageTimeoutSeconds()
        .ifPresent(seconds -> line("  message_timeout_seconds: " + seconds, "MessageTimeout"));
    cluster.maxArraySize().ifPresent(size -> line("  max_array_size: " + size, "MaxArraySize"));
    if (cluster.billingRule() != BillingWeights.Rule.SUM) {
      line("  billing_rule: " + cluster.billingRule().word(), "PriorityFlags");
    }
    if (!cluster.sacctFields().isEmpty()) {
      line(
          "  sacct_fields: [" + String.join(", ", cluster.sacctFields()) + "]",
          "of `sacct --helpformat`");
    }
  }

  /** Returns a top-level key of a YAML text with its block. */
  private static String block(String yaml, String key) {
    StringBuilder block = new StringBuilder();
    boolean inside = false;
    for (String line : yaml.split("\n", -1)) {
      inside = line.startsWith(key + ":") || (inside && line.startsWith(" "));
      if (inside) {
        block.append(line).append('\n');
      }
    }
    return block.toString();
  }

  private static String size(long value, String unit) {
    return unit.isEmpty() ? "" + value : Memory.words(value << 20);
  }

  /** Returns whether a profile and a price book take the name of a partition or GPU type. */
  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  /** Returns a name as YAML takes it. */
  static String word(String name) {
    boolean plain =
        PLAIN.matcher(name).matches() && !NOT_PLAIN.contains(name.toLowerCase(Locale.ROOT));
    return plain ? name : "\"" + name + "\"";
  }

  /** Replaces control characters of Slurm's text, because a newline would end the comment. */
  private static String comment(String text) {
    return text.replaceAll("\\p{C}", "?");
  }

  private void line(String content) {
    text.append(content).append('\n');
  }

  private void line(String content, String comment) {
    if (comment.isEmpty()) {
      line(content);
      return;
    }
    int blanks = Math.max(2, COMMENT_COLUMN - content.length());
    line(content + " ".repeat(blanks) + "# " + comment(comment));
  }
}
