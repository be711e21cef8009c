package dev.nexa.slurm.command.nodes;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.units.HostList;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmNode;
import dev.nexa.slurm.command.shared.Subcommand;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The nodes that {@code diag} checks, in parts of like nodes. Each part is one job. Pure.
 *
 * @param parts lists of nodes of one partition and with the same GPUs; 100 at most in each
 * @param leftOut the nodes of a partition that are not idle, each with its state
 */
record NodeChoice(List<List<SlurmNode>> parts, List<String> leftOut) {
  private static final int MOST = 100;

  /** Chooses the idle nodes of a partition. */
  static NodeChoice idle(List<SlurmNode> all, String partition) {
    List<SlurmNode> ours = all.stream().filter(node -> node.partition().equals(partition)).toList();
    if (ours.isEmpty()) {
      List<String> known = all.stream().map(SlurmNode::partition).distinct().toList();
      throw Subcommand.invalid(
          "--partition %s: sinfo shows no node of it%s"
              .formatted(partition, Nearest.hint(partition, known)),
          "name one of " + String.join(", ", known));
    }
    List<SlurmNode> idle = ours.stream().filter(node -> node.state().equals("idle")).toList();
    List<String> others =
        ours.stream()
            .filter(node -> !idle.contains(node))
            .map(node -> node.name() + " (" + node.state() + ")")
            .toList();
    if (idle.isEmpty()) {
      throw Subcommand.invalid(
          "--partition %s: none of its nodes is idle: %s"
              .formatted(partition, String.join(", ", others)),
          "to wait for nodes, name them: --nodes LIST");
    }
    return new NodeChoice(parts(idle), others);
  }

  /**
   * Chooses nodes by name, in any state.
   *
   * @param list in Slurm's notation
   * @param partition whose jobs can have the nodes; if empty, the first that has them all, the
   *     usual one before the others
   */
  static NodeChoice named(
      List<SlurmNode> all, String list, Optional<String> partition, Optional<String> usual) {
    Set<String> names = new LinkedHashSet<>(namesOf(list));
    Map<String, List<SlurmNode>> byPartition = new LinkedHashMap<>();
    partition.or(() -> usual).ifPresent(first -> byPartition.put(first, new ArrayList<>()));
    for (SlurmNode node : all) {
      if (names.contains(node.name()) && partition.map(node.partition()::equals).orElse(true)) {
        byPartition.computeIfAbsent(node.partition(), name -> new ArrayList<>()).add(node);
      }
    }
    for (List<SlurmNode> nodes : byPartition.values()) {
      if (nodes.size() == names.size()) {
        return new NodeChoice(parts(nodes), List.of());
      }
    }
    List<String> known = all.stream().map(SlurmNode::name).distinct().toList();
    for (String name : names) {
      if (!known.contains(name)) {
        throw Subcommand.invalid(
            "--nodes %s: the cluster has no node %s%s"
                .formatted(list, name, Nearest.hint(name, known)),
            "sinfo -N shows the nodes");
      }
    }
    throw Subcommand.invalid(
        "--nodes %s: no %s has all of them"
            .formatted(list, partition.map(name -> "partition " + name).orElse("partition")),
        "type a command for each partition; sinfo -N shows them");
  }

  private static List<String> namesOf(String list) {
    try {
      return HostList.names(list);
    } catch (IllegalArgumentException wrong) {
      throw ErrorCode.OPTION_INVALID.error("--nodes " + list + ": " + wrong.getMessage(), wrong);
    }
  }

  private static List<List<SlurmNode>> parts(List<SlurmNode> nodes) {
    Map<String, List<SlurmNode>> like = new LinkedHashMap<>();
    for (SlurmNode node : nodes) {
      like.computeIfAbsent(node.gpus() + node.gpuType(), key -> new ArrayList<>()).add(node);
    }
    List<List<SlurmNode>> parts = new ArrayList<>();
    for (List<SlurmNode> group : like.values()) {
      for (int at = 0; at < group.size(); at += MOST) {
        parts.add(group.subList(at, Math.min(group.size(), at + MOST)));
      }
    }
    return parts;
  }

  /** Returns what a job for these nodes overrides in configs/diag/nodes.yaml. */
  static List<String> overrides(List<SlurmNode> part, String level) {
    SlurmNode first = part.get(0);
    List<String> set = new ArrayList<>();
    set.add("options.level=" + level);
    set.add("resources.partition=" + first.partition());
    set.add("resources.nodes=" + part.size());
    set.add("resources.nodelist=" + String.join(",", part.stream().map(SlurmNode::name).toList()));
    if (first.gpus() > 0) {
      set.add("resources.gpus_per_node=" + first.gpus());
    }
    if (!first.gpuType().isEmpty()) {
      set.add("resources.gpu_type=" + first.gpuType());
    }
    return set;
  }
}
