package dev.nexa.slurm.data.engine;

import com.sun.management.OperatingSystemMXBean;
import dev.nexa.slurm.base.units.SlurmSize;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Map;

/**
 * The limits of DuckDB. Its memory is native: neither the JVM's heap nor Slurm's limit bounds it.
 *
 * @param memoryBytes the most memory
 * @param threads the number of threads
 * @param scratch the folder for what does not fit into the memory
 */
public record Limits(long memoryBytes, int threads, Path scratch) {
  /** The JVM's part of the job's memory: its heap of 256 MiB, its code and its stacks. */
  private static final long JVM = 512 * SlurmSize.MIB;

  /** DuckDB does not count all that it allocates. */
  private static final double COUNTED = 0.8;

  private static final long LEAST = 256 * SlurmSize.MIB;

  /** Returns the limits of a job on this machine. */
  public static Limits of(Map<String, String> environment) {
    OperatingSystemMXBean machine =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return of(
        environment,
        machine.getTotalMemorySize(),
        Runtime.getRuntime().availableProcessors(),
        Path.of(System.getProperty("java.io.tmpdir", "/tmp")));
  }

  /**
   * Returns the limits of a job from its environment: {@code SLURM_MEM_PER_NODE} (MiB) or {@code
   * SLURM_MEM_PER_CPU} less the JVM's part, {@code SLURM_CPUS_PER_TASK}, {@code NEXA_TASK_SCRATCH}.
   * Without Slurm's variables, half of this machine's memory and all its processors.
   *
   * @param machineBytes the memory of this machine
   * @param processors the processors of this machine
   * @param temporary the folder for temporary files without {@code NEXA_TASK_SCRATCH}
   */
  static Limits of(
      Map<String, String> environment, long machineBytes, int processors, Path temporary) {
    int threads = (int) number(environment, "SLURM_CPUS_PER_TASK", processors);
    long perCpu = number(environment, "SLURM_MEM_PER_CPU", 0) * SlurmSize.MIB * threads;
    long allocated = number(environment, "SLURM_MEM_PER_NODE", 0) * SlurmSize.MIB;
    long memory = allocated > 0 ? allocated : perCpu > 0 ? perCpu : machineBytes / 2;
    String scratch = environment.getOrDefault("NEXA_TASK_SCRATCH", "");
    return new Limits(
        Math.max(LEAST, (long) (COUNTED * (memory - JVM))),
        Math.max(1, threads),
        scratch.isEmpty() ? temporary : Path.of(scratch));
  }

  private static long number(Map<String, String> environment, String name, long otherwise) {
    String text = environment.getOrDefault(name, "");
    return text.matches("[0-9]{1,12}") ? Long.parseLong(text) : otherwise;
  }
}
