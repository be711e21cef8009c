package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Partition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fits the starter's files to the partitions of a cluster profile, so that the cluster that {@code
 * init} has read refuses none of them. Pure.
 */
final class FitToNodes {
  private static final Pattern ENTRY = Pattern.compile("(?m)^    - (\\{.*\\})$");
  private static final String PARTITION = "partition";

  private final ClusterProfile cluster;

  FitToNodes(ClusterProfile cluster) {
    this.cluster = cluster;
  }

  /**
   * Returns a profile's text with entries of {@code defaults.resources} that fit. An entry for
   * which a job gets too few GPUs becomes a comment.
   */
  String entries(String profile) {
    return ENTRY
        .matcher(profile)
        .replaceAll(
            entry -> {
              String text = entry.group(1);
              return Matcher.quoteReplacement(
                  fit(text, false)
                      .map(changes -> "    - " + with(text, changes))
                      .orElse("    # - " + text + "  # more than a job can get here"));
            })
        // A key without any entry would be refused.
        .replaceFirst("(?m)^  (resources:.*(?:\\n    # - .*)++)(?!\\n    - )$", "  # $1");
  }

  /**
   * Returns the values of {@code resources} that a config must change to be accepted, if fewer GPUs
   * will do; empty if no partition can run it.
   */
  Optional<Map<String, String>> example(String config) {
    return fit(config, true);
  }

  /** Returns the text with these values of keys of {@code resources}. */
  static String with(String text, Map<String, String> values) {
    String changed = text;
    for (Map.Entry<String, String> value : values.entrySet()) {
      String written = value.getKey() + ": " + value.getValue();
      Matcher old = key(value.getKey()).matcher(changed);
      changed =
          old.find()
              ? changed.substring(0, old.start()) + written + changed.substring(old.end())
              : changed.replaceFirst("(\\n *|, )(?=cpus_per_task: )", "$1" + written + "$1");
    }
    return changed;
  }

  /**
   * Returns the fit that changes least, in a partition that a job need not name if there is one.
   */
  private Optional<Map<String, String>> fit(String text, boolean smaller) {
    if (cluster.partitions().isEmpty()) {
      return Optional.of(Map.of());
    }
    List<String> defaultFirst = new ArrayList<>(cluster.partitions().keySet());
    cluster
        .usual()
        .partition()
        .filter(defaultFirst::remove)
        .ifPresent(name -> defaultFirst.add(0, name));
    return defaultFirst.stream()
        .flatMap(name -> fit(text, name, smaller).stream())
        .min(
            Comparator.comparing((Map<String, String> changes) -> changes.containsKey(PARTITION))
                .thenComparing(Map::size));
  }

  private Optional<Map<String, String>> fit(String text, String name, boolean smaller) {
    Partition partition = Objects.requireNonNull(cluster.partitions().get(name));
    boolean onGpus = cluster.accelerator().equals("cuda");
    int nodes = Integer.parseInt(value(text, "nodes"));
    int gpus = Integer.parseInt(value(text, "gpus_per_node"));
    int each = onGpus ? Math.min(gpus, partition.gpusPerNode().orElse(gpus)) : gpus;
    String type = value(text, "gpu_type");
    boolean typed = onGpus && !type.isEmpty();
    int needed = smaller || each == 0 ? nodes : (nodes * gpus + each - 1) / each;
    int most = partition.maxNodes().orElse(needed);
    if ((each == 0 && gpus > 0)
        || (typed && partition.gpuType().isEmpty())
        || (needed > most && !smaller)) {
      return Optional.empty();
    }
    int cpus = Integer.parseInt(value(text, "cpus_per_task"));
    int mostCpus = partition.cpusPerNode().orElse(cpus);
    long memory = Memory.parse(value(text, "memory"));
    Optional<Long> byCpus = partition.sharing().maxMemoryPerCpu().map(one -> one * mostCpus);
    long room = Math.min(partition.memoryPerNode().orElse(memory), byCpus.orElse(memory));
    Duration time = TimeLimit.parse(value(text, "time"));
    Duration longest = partition.maxTime().orElse(time);
    Map<String, String> fit = new LinkedHashMap<>();
    if (partition.byNameOnly() && !name.equals(cluster.usual().partition().orElse(""))) {
      fit.put(PARTITION, name);
    }
    fit.put("nodes", "" + Math.min(needed, most));
    fit.put("gpus_per_node", "" + each);
    fit.put("gpu_type", typed ? ProfileText.word(partition.gpuType().orElseThrow()) : type);
    fit.put("cpus_per_task", "" + Math.min(cpus, mostCpus));
    fit.put("memory", Memory.words(Math.min(memory, room)));
    if (time.compareTo(longest) > 0) {
      fit.put("time", TimeLimit.format(longest));
    }
    fit.entrySet().removeIf(one -> one.getValue().equals(value(text, one.getKey())));
    return Optional.of(fit);
  }

  /** Returns a value of the text; what a config that lacks the key asks for at least. */
  private static String value(String text, String key) {
    Matcher found = key(key).matcher(text);
    return found.find()
        ? found.group(1)
        : switch (key) {
          case "nodes", "cpus_per_task" -> "1";
          case "gpus_per_node" -> "0";
          case "memory" -> "1M";
          case "time" -> "1m";
          default -> "";
        };
  }

  /** A key in a flow mapping or at the beginning of a line, and its value. */
  private static Pattern key(String key) {
    return Pattern.compile("(?m)(?<=[{ ]|^)" + key + ": ([^,}\\s#]+)");
  }
}
