package dev.nexa.slurm.plan;

import java.time.Duration;
import java.util.Optional;

/**
 * What Slurm is asked to allocate for one task, and what it will charge to.
 *
 * @param gpusPerNode GPUs asked for on each node; 0 where ranks run on CPUs
 * @param gpuType their type as the cluster names it
 * @param cpusPerTask CPUs on each node
 * @param memoryBytes memory on each node
 * @param timeLimit a whole number of minutes
 */
public record Allocation(
    int nodes,
    int gpusPerNode,
    Optional<String> gpuType,
    int cpusPerTask,
    long memoryBytes,
    Duration timeLimit,
    Optional<String> partition,
    Optional<String> account,
    Optional<String> qos,
    Optional<String> constraint,
    Optional<String> reservation,
    boolean exclusive) {

  /** {@code 4x h100}, {@code 2x 8 CPUs}, {@code 1 CPU}: the manifest's `hardware`. */
  public String hardware() {
    if (gpusPerNode > 0) {
      return nodes * gpusPerNode + "x " + gpuType.orElse("gpu");
    }
    String cpus = cpusPerTask == 1 ? "1 CPU" : cpusPerTask + " CPUs";
    return nodes == 1 ? cpus : nodes + "x " + cpus;
  }
}
