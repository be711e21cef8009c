package dev.nexa.slurm.job.config.site;

import java.util.Optional;

/**
 * How Slurm gives the nodes of a partition to jobs. A job can get more than it asks for, and its
 * user pays for what it gets. Pure.
 *
 * @param exclusive whether every job gets whole nodes
 * @param cpusMultipleOf a job's CPUs on a node are a multiple of this number. If Slurm gives whole
 *     cores, it is the threads of a core; if Slurm gives whole sockets, the CPUs of a node; else 1
 * @param maxMemoryPerCpu MaxMemPerCPU in bytes: for more memory a job gets more CPUs
 * @param mostCpus the CPUs of the largest node; empty if unknown
 * @param mostGpus the GPUs of the node that has the most; empty if unknown
 * @param mostMemory the memory in bytes of the node that has the most; empty if unknown
 * @param cpusPerGpu DefCpuPerGPU: the CPUs for each GPU of a job that names no CPUs; 0 if there are
 *     none
 */
public record NodeSharing(
    boolean exclusive,
    int cpusMultipleOf,
    Optional<Long> maxMemoryPerCpu,
    Optional<Integer> mostCpus,
    Optional<Integer> mostGpus,
    Optional<Long> mostMemory,
    int cpusPerGpu) {
  /** Jobs get what they ask for. */
  public static final NodeSharing AS_ASKED =
      new NodeSharing(
          false, 1, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), 0);

  /**
   * Returns the CPUs that a job needs on a node for its memory (job_mgr.c, _valid_pn_min_mem).
   *
   * @param cpus the CPUs that it asks for
   */
  public int cpusFor(int cpus, long memoryBytes) {
    if (maxMemoryPerCpu.isEmpty()) {
      return cpus;
    }
    long most = maxMemoryPerCpu.get();
    return (int) Math.max(cpus, Math.min(Integer.MAX_VALUE, (memoryBytes - 1) / most + 1));
  }

  /** Returns the most CPUs that a job gets on a node that it shares with others. */
  public int cpusGiven(long cpus, long memoryBytes) {
    int asked = (int) Math.min(Integer.MAX_VALUE, cpus);
    long cores = ((long) cpusFor(asked, memoryBytes) - 1) / cpusMultipleOf + 1;
    return (int) Math.min(Integer.MAX_VALUE, cores * cpusMultipleOf);
  }
}
