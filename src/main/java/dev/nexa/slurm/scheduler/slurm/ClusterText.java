package dev.nexa.slurm.scheduler.slurm;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.scheduler.slurm.SlurmCluster.Partition;
import dev.nexa.slurm.scheduler.slurm.SlurmCluster.Spread;
import dev.nexa.slurm.units.BillingWeights;
import dev.nexa.slurm.units.TimeLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@code scontrol show config}, {@code scontrol show partition} and sinfo print of a
 * cluster. The keys are those of Slurm 21.08 to 26.05 (src/api/config_info.c,
 * src/api/partition_info.c, src/sinfo/print.c). Pure.
 */
public final class ClusterText {
  /** INFINITE and NO_VAL of 32 and 64 bits (slurm.h), which leak out as numbers. */
  private static final Set<String> NO_NUMBER =
      Set.of("4294967294", "4294967295", "18446744073709551614", "18446744073709551615");

  private static final int NODE_FIELDS = 5;

  private ClusterText() {}

  /**
   * The cluster.
   *
   * @param config of {@code scontrol show config}
   * @param partitions of {@code scontrol --all --oneliner show partition}
   * @param nodes of our sinfo call, {@link SlurmCommands#nodes}
   * @throws NexaException if no estimate could have an upper bound there, or no run a job
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
    return new NexaException(
        ExitCode.USAGE,
        "`scontrol show config` says that " + message,
        "nothing was written",
        advice);
  }

  /** The {@code Key = value} lines; a key of the parts below the first is not meant. */
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

  /** By partition, what {@code scontrol --oneliner show partition} tells of TRESBillingWeights. */
  static Map<String, BillingWeights> billingWeights(String text) {
    Map<String, BillingWeights> weights = new LinkedHashMap<>();
    for (Map<String, String> partition : partitions(text)) {
      weights.put(
          partition.getOrDefault("PartitionName", ""),
          BillingWeights.parse(partition.getOrDefault("TRESBillingWeights", "")));
    }
    return weights;
  }

  /** One line a partition, {@code Key=value} between blanks. */
  private static List<Map<String, String>> partitions(String text) {
    List<Map<String, String>> all = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      Map<String, String> values = new LinkedHashMap<>();
      for (String word : line.strip().split(" +", -1)) {
        int equals = word.indexOf('=');
        if (equals > 0) {
          values.putIfAbsent(word.substring(0, equals), word.substring(equals + 1));
        }
      }
      if (values.containsKey("PartitionName")) {
        all.add(values);
      }
    }
    return all;
  }

  /** Partition, node, CPUs, MiB, Gres; the nodes of each partition. */
  private static Map<String, List<String[]>> nodes(String text) {
    Map<String, List<String[]>> all = new LinkedHashMap<>();
    for (String line : text.split("\n", -1)) {
      String[] field = line.split("" + SacctText.DELIMITER, -1);
      if (field.length == NODE_FIELDS) {
        all.computeIfAbsent(field[0], name -> new ArrayList<>()).add(field);
      }
    }
    return all;
  }

  /** Why jobs are not sent there; empty where they are. */
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
        exclusive(partition),
        onlyFor(partition),
        partition.getOrDefault("Nodes", "?"),
        nodes.size(),
        cpus.atMost(limit(partition.get("MaxCPUsPerNode"))),
        memory.atMost(ownOr(partition, cluster, "MaxMemPer", "Node")),
        gpus,
        types,
        ownOr(partition, cluster, "DefMemPer", "CPU"),
        ownOr(partition, cluster, "DefMemPer", "Node"),
        limit(partition.get("MaxNodes")),
        maxTime(partition.getOrDefault("MaxTime", "UNLIMITED")),
        limit(partition.get("OverTimeLimit")),
        partition.getOrDefault("TRESBillingWeights", "").replace("(null)", ""));
  }

  /** Up to 25.11 it stands under OverSubscribe, since 26.05 under a key of its own. */
  private static boolean exclusive(Map<String, String> partition) {
    return is(partition, "OverSubscribe", "EXCLUSIVE")
        || is(partition, "Exclusive", "NODE")
        || is(partition, "Exclusive", "TOPO");
  }

  /** Not AllowGroups: sinfo shows no partition of other groups. */
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
   * The partition's value, else the cluster's. Slurm prints the one of {@code …PerCPU} and {@code
   * …PerNode} that is set, and PerNode=UNLIMITED where none is.
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

  /** The number that a limit begins with ({@code 30 sec}); empty where it is none. */
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
    long all = 0;
    for (Long gpus : GresText.gpus(gres).values()) {
      all += gpus;
    }
    return all;
  }

  private static boolean is(Map<String, String> partition, String key, String value) {
    return value.equals(partition.get(key));
  }
}
