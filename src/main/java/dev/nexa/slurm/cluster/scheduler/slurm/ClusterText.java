package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster.Partition;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster.Spread;
import dev.nexa.slurm.job.config.site.NodeSharing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the output of {@code scontrol show config}, {@code scontrol show partition} and sinfo into
 * a {@link SlurmCluster}. Slurm 21.08 to 26.05 print these keys (src/api/config_info.c,
 * src/api/partition_info.c, src/sinfo/print.c). Pure.
 */
public final class ClusterText {
  /** NO_VAL and INFINITE of 32 and 64 bits (slurm.h), which Slurm sometimes prints as numbers. */
  private static final Set<String> NO_NUMBER =
      Set.of("4294967294", "4294967295", "18446744073709551614", "18446744073709551615");

  /** Of the last field, sockets:cores:threads, the threads are not needed. */
  private static final int NODE_FIELDS = 6;

  private ClusterText() {}

  /**
   * Reads a cluster and its partitions.
   *
   * @param config output of {@code scontrol show config}
   * @param partitions output of {@code scontrol --all --oneliner show partition}
   * @param nodes output of the sinfo call {@link SlurmCommands#nodes}
   * @return the cluster, without {@code sacctFields}
   * @throws NexaException if MaxArraySize is 0, so no run could be a job, or if OverTimeLimit is
   *     UNLIMITED, so no estimate could have an upper bound
   */
  public static SlurmCluster read(String config, String partitions, String nodes) {
    Map<String, String> cluster = config(config);
    Optional<Long> arrays = limit(cluster.get("MaxArraySize"));
    if (arrays.isPresent() && arrays.get() == 0) {
      throw unusable(
          "MaxArraySize is 0: this cluster takes no job arrays, and every run is one",
          "ask the cluster's admin for a MaxArraySize above 0");
    }
    Map<String, List<String[]>> nodesOf = nodes(nodes);
    List<Partition> usable = new ArrayList<>();
    Map<String, String> leftOut = new LinkedHashMap<>();
    Optional<String> byDefault = Optional.empty();
    for (Map<String, String> partition : partitions(partitions)) {
      String name = partition.getOrDefault("PartitionName", "");
      List<String[]> own = nodesOf.getOrDefault(name, List.of());
      String unusable = unusable(partition, own);
      if (!unusable.isEmpty()) {
        leftOut.put(name, unusable);
        continue;
      }
      usable.add(partition(name, partition, own, cluster));
      if (is(partition, "Default", "YES")) {
        byDefault = Optional.of(name);
      }
    }
    return new SlurmCluster(
        cluster.getOrDefault("ClusterName", "?"),
        cluster.getOrDefault("SLURM_VERSION", "?"),
        overTime(cluster.getOrDefault("OverTimeLimit", "0 min")),
        limit(cluster.get("KillWait")),
        limit(cluster.get("MessageTimeout")),
        arrays,
        byDefault,
        List.copyOf(usable),
        leftOut,
        BillingWeights.Rule.of(cluster.getOrDefault("PriorityFlags", "")),
        List.of());
  }

  private static int overTime(String text) {
    if (text.equals("UNLIMITED")) {
      throw unusable(
          "OverTimeLimit is UNLIMITED: a job may run on past its time limit for ever, and no estimate"
              + " could say what it costs at most",
          "ask the cluster's admin for a number of minutes (slurm.conf(5), OverTimeLimit)");
    }
    return Math.toIntExact(limit(text).orElse(0L));
  }

  private static NexaException unusable(String message, String advice) {
    return ErrorCode.SLURM_CONFIG_UNSUITABLE.error(
        "`scontrol show config` says that " + message, "nothing was written", advice);
  }

  /** Reads {@code Key = value} lines. If a later section repeats a key, the first value counts. */
  private static Map<String, String> config(String text) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String line : text.split("\n", -1)) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        values.putIfAbsent(line.substring(0, equals).strip(), line.substring(equals + 1).strip());
      }
    }
    return values;
  }

  /** Reads TRESBillingWeights by partition from {@code scontrol --oneliner show partition}. */
  static Map<String, BillingWeights> billingWeights(String text) {
    Map<String, BillingWeights> weights = new LinkedHashMap<>();
    for (Map<String, String> partition : partitions(text)) {
      weights.put(
          partition.getOrDefault("PartitionName", ""),
          BillingWeights.parse(partition.getOrDefault("TRESBillingWeights", "")));
    }
    return weights;
  }

  /** Reads each partition, also hidden ones, from the same three outputs as {@link #read}. */
  static List<PartitionFacts> facts(String config, String partitions, String nodes) {
    Map<String, String> cluster = config(config);
    Map<String, List<String[]>> nodesOf = nodes(nodes);
    List<PartitionFacts> all = new ArrayList<>();
    for (Map<String, String> partition : partitions(partitions)) {
      String name = partition.getOrDefault("PartitionName", "");
      List<String[]> own = nodesOf.getOrDefault(name, List.of());
      all.add(
          new PartitionFacts(
              name,
              is(partition, "Default", "YES"),
              maxTime(partition.getOrDefault("MaxTime", "UNLIMITED")),
              limit(partition.get("MaxNodes")),
              sharing(partition, own, cluster)));
    }
    return all;
  }

  /** Reads one partition a line, {@code Key=value} pairs separated by blanks. */
  private static List<Map<String, String>> partitions(String text) {
    return text.lines()
        .map(PrintedValue::pairs)
        .filter(values -> values.containsKey("PartitionName"))
        .toList();
  }

  /** Reads sinfo's lines (partition, node, CPUs, MiB, Gres, S:C:T) and groups them by partition. */
  private static Map<String, List<String[]>> nodes(String text) {
    Map<String, List<String[]>> all = new LinkedHashMap<>();
    for (String line : text.split("\n", -1)) {
      String[] field = line.split(SqueueText.DELIMITER, -1);
      if (field.length == NODE_FIELDS) {
        all.computeIfAbsent(field[0], name -> new ArrayList<>()).add(field);
      }
    }
    return all;
  }

  /** Returns why jobs cannot be sent to the partition; empty if they can. */
  private static String unusable(Map<String, String> partition, List<String[]> nodes) {
    String state = partition.getOrDefault("State", "UP");
    if (!state.equals("UP")) {
      return "State=" + state;
    }
    for (String key : List.of("Hidden", "RootOnly")) {
      if (is(partition, key, "YES")) {
        return key + "=YES";
      }
    }
    if (is(partition, "OverTimeLimit", "UNLIMITED")) {
      return "OverTimeLimit=UNLIMITED: its jobs have no upper cost";
    }
    if (!nodes.isEmpty()) {
      return "";
    }
    boolean empty = partition.getOrDefault("TotalNodes", "0").equals("0");
    return empty ? "it has no nodes" : "sinfo does not show it to you";
  }

  private static Partition partition(
      String name,
      Map<String, String> partition,
      List<String[]> nodes,
      Map<String, String> cluster) {
    Spread cpus = Spread.of(number(nodes.get(0)[2]));
    Spread memory = Spread.of(number(nodes.get(0)[3]));
    Spread gpus = Spread.of(count(nodes.get(0)[4]));
    SortedSet<String> types = new TreeSet<>();
    for (String[] node : nodes) {
      cpus = cpus.with(number(node[2]));
      memory = memory.with(number(node[3]));
      gpus = gpus.with(count(node[4]));
      types.addAll(GresText.gpus(node[4]).keySet());
    }
    return new Partition(
        name,
        sharing(partition, nodes, cluster),
        onlyFor(partition),
        new SlurmCluster.Nodes(
            partition.getOrDefault("Nodes", "?"),
            nodes.size(),
            cpus.atMost(limit(partition.get("MaxCPUsPerNode"))),
            memory.atMost(ownOr(partition, cluster, "MaxMemPer", "Node")),
            gpus,
            types),
        ownOr(partition, cluster, "DefMemPer", "CPU"),
        ownOr(partition, cluster, "DefMemPer", "Node"),
        limit(partition.get("MaxNodes")),
        maxTime(partition.getOrDefault("MaxTime", "UNLIMITED")),
        limit(partition.get("OverTimeLimit")),
        partition.getOrDefault("TRESBillingWeights", "").replace("(null)", ""));
  }

  private static NodeSharing sharing(
      Map<String, String> partition, List<String[]> nodes, Map<String, String> cluster) {
    String own = partition.getOrDefault("SelectTypeParameters", "NONE");
    String select = own.equals("NONE") ? cluster.getOrDefault("SelectTypeParameters", "") : own;
    long together = 1;
    long cpus = 0;
    long gpus = 0;
    long memory = 0;
    for (String[] node : nodes) {
      // The largest covers the others: threads of a core are powers of two, sockets a whole node.
      together = Math.max(together, cpusTogether(node, select.toUpperCase(Locale.ROOT)));
      cpus = Math.max(cpus, number(node[2]));
      gpus = Math.max(gpus, count(node[4]));
      memory = Math.max(memory, number(node[3]));
    }
    Optional<Long> perCpu = ownOr(partition, cluster, "MaxMemPer", "CPU");
    return new NodeSharing(
        exclusive(partition, cluster),
        (int) together,
        perCpu.isPresent() ? Optional.of(perCpu.get() << 20) : perCpu,
        cpus == 0 ? Optional.empty() : Optional.of((int) cpus),
        nodes.isEmpty() ? Optional.empty() : Optional.of((int) gpus),
        memory == 0 ? Optional.empty() : Optional.of(memory << 20),
        cpusPerGpu(partition.getOrDefault("JobDefaults", ""))
            .or(() -> cpusPerGpu(cluster.getOrDefault("JobDefaults", "")))
            .orElse(0));
  }

  /** Returns DefCpuPerGPU of JobDefaults (slurm.conf(5)), such as {@code DefCpuPerGPU=4}. */
  private static Optional<Integer> cpusPerGpu(String defaults) {
    Matcher found = Pattern.compile("DefCpuPerGPU=(\\d{1,5})(?:,|$)").matcher(defaults);
    return found.find() ? Optional.of(Integer.valueOf(found.group(1))) : Optional.empty();
  }

  /**
   * Returns the CPUs of a node that Slurm gives only together (slurm.conf(5),
   * SelectTypeParameters). A core has one CPU if the node has as many CPUs as cores. If Slurm gives
   * whole sockets, a job of a few CPUs can get all sockets (seen with GPUs on 22.05).
   */
  private static long cpusTogether(String[] node, String select) {
    String[] count = node[5].split(":", -1);
    if (count.length != 3 || select.matches("(.*,)?CR_CPU(_MEMORY)?(,.*)?")) {
      return 1;
    }
    boolean sockets = select.matches("(.*,)?CR_SOCKET(_MEMORY)?(,.*)?");
    long cores = number(count[0]) * number(count[1]);
    return Math.max(1, number(node[2]) / Math.max(1, sockets ? 1 : cores));
  }

  /**
   * Whole-node allocation is a value of OverSubscribe up to 25.11, and of Exclusive since 26.05.
   * select/linear gives nothing else.
   */
  private static boolean exclusive(Map<String, String> partition, Map<String, String> cluster) {
    return is(partition, "OverSubscribe", "EXCLUSIVE")
        || is(partition, "Exclusive", "NODE")
        || is(partition, "Exclusive", "TOPO")
        || is(cluster, "SelectType", "select/linear");
  }

  /**
   * Returns what the partition demands of a job. AllowGroups is not needed: sinfo lists no
   * partition of other groups.
   */
  private static String onlyFor(Map<String, String> partition) {
    StringBuilder demands = new StringBuilder();
    for (String key : List.of("AllowAccounts", "AllowQos")) {
      String value = partition.getOrDefault(key, "ALL");
      if (!value.equals("ALL")) {
        demands.append(demands.length() == 0 ? "" : ", ").append(key).append('=').append(value);
      }
    }
    if (is(partition, "ReqResv", "YES")) {
      demands.append(demands.length() == 0 ? "" : ", ").append("ReqResv=YES");
    }
    return demands.toString();
  }

  /**
   * Returns the partition's value, or else the cluster's. Slurm prints either {@code …PerCPU} or
   * {@code …PerNode}, whichever is set, and {@code …PerNode=UNLIMITED} if none is.
   */
  private static Optional<Long> ownOr(
      Map<String, String> partition, Map<String, String> cluster, String key, String per) {
    boolean own =
        limit(partition.get(key + "CPU")).isPresent()
            || limit(partition.get(key + "Node")).isPresent();
    Optional<Long> mib = limit((own ? partition : cluster).get(key + per));
    return mib.isPresent() && mib.get() == 0 ? Optional.empty() : mib;
  }

  private static Optional<Duration> maxTime(String text) {
    try {
      return Optional.of(TimeLimit.parse(text));
    } catch (IllegalArgumentException noneOrOverAYear) {
      return Optional.empty();
    }
  }

  /** Returns the number at the start of a limit ({@code 30 sec}); empty if there is none. */
  private static Optional<Long> limit(@Nullable String text) {
    String first = text == null ? "" : text.split(" ", -1)[0];
    boolean digits =
        !first.isEmpty() && first.length() < 16 && first.chars().allMatch(Character::isDigit);
    return digits && !NO_NUMBER.contains(first)
        ? Optional.of(Long.parseLong(first))
        : Optional.empty();
  }

  private static long number(String text) {
    return limit(text).orElse(0L);
  }

  private static long count(String gres) {
    return Tres.sum(GresText.gpus(gres));
  }

  private static boolean is(Map<String, String> values, String key, String value) {
    return value.equals(values.get(key));
  }
}
