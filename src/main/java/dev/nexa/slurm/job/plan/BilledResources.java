package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.job.config.run.ConfigPositions;
import dev.nexa.slurm.job.config.site.NodeSharing;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The most that Slurm gives to one task, over all its nodes. The task is charged for it. It can be
 * more than the config asks for.
 *
 * @param cpus the number of CPUs
 * @param memoryBytes the memory in bytes
 * @param gpus the number of GPUs
 * @param gpuType the type of the GPUs, if the config or the profile names one
 * @param whole whether the task gets whole nodes
 * @param why why it is more than the config asks for; empty if it is not more
 */
public record BilledResources(
    int cpus, long memoryBytes, int gpus, Optional<String> gpuType, boolean whole, String why) {
  static final BilledResources NONE = new BilledResources(0, 0, 0, Optional.empty(), false, "");

  /**
   * Returns what a task gets of the nodes of a partition. Whole nodes are all their CPUs and GPUs,
   * and the memory that the task asks for (sbatch(1), {@code --exclusive}).
   *
   * @throws ConfigException if it is more than can be counted
   */
  static BilledResources of(
      Allocation asked, NodeSharing nodes, Optional<String> gpuType, ConfigPositions written) {
    boolean whole = asked.exclusive() || nodes.exclusive();
    if (asked.isSized() || asked.memoryBytes() == 0) {
      return sized(asked, nodes, gpuType, whole, written);
    }
    int cpus = nodes.cpusGiven(asked.cpusPerTask(), asked.memoryBytes());
    int gpus = asked.gpusPerNode();
    if (whole) {
      cpus = Math.max(cpus, nodes.mostCpus().orElse(0));
      gpus = Math.max(gpus, nodes.mostGpus().orElse(0));
    }
    try {
      return new BilledResources(
          Math.multiplyExact(cpus, asked.nodes()),
          Math.multiplyExact(asked.memoryBytes(), (long) asked.nodes()),
          Math.multiplyExact(gpus, asked.nodes()),
          gpuType,
          whole,
          whole
              ? whole(asked, (long) cpus * asked.nodes(), (long) gpus * asked.nodes(), gpuType)
              : more(asked, nodes, cpus));
    } catch (ArithmeticException tooMuch) {
      throw tooMuch(written);
    }
  }

  private static ConfigException tooMuch(ConfigPositions written) {
    return written.error("resources.memory", "over all nodes it is more than can be counted");
  }

  private static BilledResources sized(
      Allocation asked,
      NodeSharing nodes,
      Optional<String> gpuType,
      boolean whole,
      ConfigPositions written) {
    try {
      JobSize size = JobSize.of(asked);
      long cpus = size.cpus(nodes);
      long gpus = size.mostGpus();
      if (whole) {
        cpus = Math.max(cpus, (long) asked.nodes() * nodes.mostCpus().orElse(0));
        gpus = Math.max(gpus, (long) asked.nodes() * nodes.mostGpus().orElse(0));
      }
      long memory =
          asked.memoryBytes() == 0
              ? Math.multiplyExact(nodes.mostMemory().orElse(0L), (long) asked.nodes())
              : size.memory(nodes, cpus, gpus);
      String more =
          cpus <= size.cpusAsked()
              ? ""
              : "Slurm gives up to %d CPUs for the %d that you ask for"
                  .formatted(cpus, size.cpusAsked());
      return new BilledResources(
          Math.toIntExact(cpus),
          memory,
          Math.toIntExact(gpus),
          gpuType,
          whole,
          whole ? whole(asked, cpus, gpus, gpuType) : more);
    } catch (ArithmeticException tooMuch) {
      throw tooMuch(written);
    }
  }

  private static String whole(Allocation asked, long cpus, long gpus, Optional<String> gpuType) {
    int nodes = asked.nodes();
    return (nodes == 1
            ? "the job gets the whole node and pays for it: "
            : "the job gets whole nodes and pays for them: ")
        + (gpus == 0 ? "" : gpus + " " + gpuType.orElse("GPUs") + " and ")
        + cpus
        + " CPUs";
  }

  private static String more(Allocation asked, NodeSharing nodes, int cpus) {
    List<String> reasons = new ArrayList<>();
    int needed = nodes.cpusFor(asked.cpusPerTask(), asked.memoryBytes());
    if (needed > asked.cpusPerTask()) {
      reasons.add(asked.needsCpus(nodes));
    }
    if (cpus > needed) {
      reasons.add("Slurm gives CPUs in multiples of " + nodes.cpusMultipleOf() + ": " + cpus);
    }
    String each = asked.nodes() == 1 || reasons.isEmpty() ? "" : ", on each node";
    return String.join("; ", reasons) + each;
  }

  /** Returns a copy with so many CPUs, for the reason. */
  BilledResources withCpus(int more, String reason) {
    return new BilledResources(more, memoryBytes, gpus, gpuType, whole, reason);
  }

  /** Returns the larger amount of each resource: for a job that may run in several partitions. */
  BilledResources orMore(BilledResources other) {
    return new BilledResources(
        Math.max(cpus, other.cpus),
        Math.max(memoryBytes, other.memoryBytes),
        Math.max(gpus, other.gpus),
        gpuType.isPresent() ? gpuType : other.gpuType,
        whole || other.whole,
        other.cpus > cpus || other.gpus > gpus ? other.why : why);
  }
}
