package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.ClusterProfile;
import dev.nexa.slurm.job.config.ClusterProfile.Partition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fits what the starter's files ask for to the partitions of a cluster profile, so that none of
 * them is refused on the cluster that {@code init} has read. Pure.
 */
final class FitToNodes {
  private static final Pattern ENTRY = Pattern.compile("(?m)^    - (\\{.*\\})$");

  private final ClusterProfile cluster;

  FitToNodes(ClusterProfile cluster) {
    this.cluster = cluster;
  }

  /**
   * Returns a profile's text with entries of {@code defaults.resources} that fit. An entry for
   * which the cluster has too few GPUs becomes a comment.
   */
  String entries(String profile) {
    List<Fit> fits = new ArrayList<>();
    Matcher entry = ENTRY.matcher(profile);
    StringBuilder text = new StringBuilder();
    while (entry.find()) {
      Optional<Fit> fit = fit(entry.group(1), false);
      fit.ifPresent(fits::add);
      String line =
          fit.map(one -> "    - " + with(entry.group(1), one.changes()))
              .orElse("    # - " + entry.group(1) + "  # more than a job can get here");
      entry.appendReplacement(text, Matcher.quoteReplacement(line));
    }
    entry.appendTail(text);
    // A key without a value would be refused.
    return fits.isEmpty() && !cluster.partitions().isEmpty()
        ? text.toString().replaceFirst("(?m)^  (resources:.*)(?=\n    # - )", "  # $1")
        : text.toString();
  }

  /**
   * Returns the values of {@code resources} in which a config must differ to be accepted; empty if
   * no partition can run it.
   */
  Optional<Map<String, String>> example(String config) {
    return fit(config, true).map(Fit::changes);
  }

  /** Returns the text with these values of keys of {@code resources}. */
  static String with(String text, Map<String, String> values) {
    String changed = text;
    for (Map.Entry<String, String> value : values.entrySet()) {
      String written = value.getKey() + ": " + value.getValue();
      Matcher old = key(value.getKey(), "[^,}\\s#]+").matcher(changed);
      Matcher next = Pattern.compile("(?m)^( *)cpus_per_task: |cpus_per_task: ").matcher(changed);
      if (old.find()) {
        changed = changed.substring(0, old.start()) + written + changed.substring(old.end());
      } else if (next.find()) {
        String after = next.group(1) == null ? ", " : "\n" + next.group(1);
        int at = next.start() + (next.group(1) == null ? 0 : next.group(1).length());
        changed = changed.substring(0, at) + written + after + changed.substring(at);
      }
    }
    return changed;
  }

  /** The values that change for a partition, and how long a job may then run. */
  private record Fit(Map<String, String> changes, Duration time) {}

  /** Returns the fit that changes nothing, else the one with the longest time limit. */
  private Optional<Fit> fit(String text, boolean smaller) {
    if (cluster.partitions().isEmpty()) {
      return Optional.of(new Fit(Map.of(), Duration.ZERO));
    }
    Optional<Fit> best = Optional.empty();
    for (boolean named : List.of(false, true)) {
      for (String name : defaultFirst()) {
        Partition partition = cluster.partitions().get(name);
        boolean byName =
            partition.byNameOnly() && !name.equals(cluster.defaultPartition().orElse(""));
        Optional<Fit> fit = byName == named ? fit(text, partition, smaller) : Optional.empty();
        if (fit.isPresent() && byName) {
          fit.get().changes().put("partition", name);
        }
        if (fit.isPresent() && fit.get().changes().isEmpty()) {
          return fit;
        }
        if (fit.isPresent()
            && (best.isEmpty() || fit.get().time().compareTo(best.get().time()) > 0)) {
          best = fit;
        }
      }
      if (best.isPresent()) {
        return best;
      }
    }
    return best;
  }

  private List<String> defaultFirst() {
    List<String> names = new ArrayList<>(cluster.partitions().keySet());
    cluster
        .defaultPartition()
        .filter(names::remove)
        .ifPresent(first -> names.add(0, first));
    return names;
  }

  /**
   * @param smaller whether fewer GPUs than the text asks for will do
   */
  private Optional<Fit> fit(String text, Partition partition, boolean smaller) {
    boolean onGpus = cluster.accelerator().equals("cuda");
    int gpus = number(text, "gpus_per_node", 0);
    int nodes = number(text, "nodes", 1);
    int each = onGpus ? Math.min(gpus, partition.gpusPerNode().orElse(gpus)) : gpus;
    boolean unnamed = onGpus && value(text, "gpu_type").isPresent() && partition.gpuType().isEmpty();
    if (gpus > 0 && (each == 0 || unnamed)) {
      return Optional.empty();
    }
    int most = partition.maxNodes().orElse(Integer.MAX_VALUE);
    int needed = gpus == 0 || smaller ? nodes : (nodes * gpus + each - 1) / each;
    if (needed > most && !smaller) {
      return Optional.empty();
    }
    Map<String, String> changes = new LinkedHashMap<>();
    put(changes, "nodes", Math.min(needed, most), nodes);
    put(changes, "gpus_per_node", each, gpus);
    Optional<String> type = value(text, "gpu_type");
    if (onGpus && type.isPresent() && !type.equals(partition.gpuType())) {
      changes.put("gpu_type", ProfileText.word(partition.gpuType().orElseThrow()));
    }
    int cpus = number(text, "cpus_per_task", 1);
    int mostCpus = partition.cpusPerNode().orElse(cpus);
    put(changes, "cpus_per_task", Math.min(cpus, mostCpus), cpus);
    value(text, "memory")
        .map(Memory::parse)
        .ifPresent(
            memory -> {
              long room = partition.memoryPerNode().orElse(memory);
              long byCpus =
                  partition.sharing().maxMemoryPerCpu().map(one -> one * mostCpus).orElse(room);
              if (memory > Math.min(room, byCpus)) {
                changes.put("memory", Memory.words(Math.min(room, byCpus)));
              }
            });
    Duration time = value(text, "time").map(TimeLimit::parse).orElse(Duration.ZERO);
    Duration longest = partition.maxTime().orElse(time);
    if (time.compareTo(longest) > 0) {
      changes.put("time", TimeLimit.format(longest));
    }
    return Optional.of(new Fit(changes, time.compareTo(longest) > 0 ? longest : time));
  }

  private static void put(Map<String, String> changes, String key, int value, int asked) {
    if (value != asked) {
      changes.put(key, "" + value);
    }
  }

  private static int number(String text, String key, int otherwise) {
    return value(text, key).map(Integer::parseInt).orElse(otherwise);
  }

  private static Optional<String> value(String text, String key) {
    Matcher found = key(key, "([^,}\\s#]+)").matcher(text);
    return found.find() ? Optional.of(found.group(1)) : Optional.empty();
  }

  /** A key in a flow mapping or at the beginning of a line; {@code nodes} is no part of a word. */
  private static Pattern key(String key, String value) {
    return Pattern.compile("(?m)(?<=[{ ]|^)" + key + ": " + value);
  }
}
