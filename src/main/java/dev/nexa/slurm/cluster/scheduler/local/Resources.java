package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.units.SlurmSize;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The resources of one task. They are reported to the script and to accounting, but not enforced.
 *
 * @param tasks number of processes that srun would start
 * @param cpus all CPUs
 * @param memoryMib memory of the node in MiB; empty if it is not requested, or all of it is
 */
record Resources(int tasks, int cpus, Optional<Long> memoryMib) {
  /**
   * Reads the options.
   *
   * @param processors the number of processors of this machine, which a task has alone if it asks
   *     for that
   * @throws IllegalArgumentException if a value is not valid, or not one node is requested
   */
  static Resources of(Map<SbatchOption, String> options, int processors) {
    if (count(options, SbatchOption.NODES) != 1) {
      throw new IllegalArgumentException("expected one node: this machine is the only one");
    }
    int tasks = count(options, SbatchOption.NTASKS_PER_NODE);
    int asked = tasks * count(options, SbatchOption.CPUS_PER_TASK);
    return new Resources(
        tasks,
        options.containsKey(SbatchOption.EXCLUSIVE) ? Math.max(asked, processors) : asked,
        Optional.ofNullable(options.get(SbatchOption.MEM)).flatMap(Resources::mebibytes));
  }

  private static int count(Map<SbatchOption, String> options, SbatchOption option) {
    String text = options.getOrDefault(option, "1");
    if (!text.matches("[1-9]\\d{0,5}")) {
      throw new IllegalArgumentException(
          "expected a number under --" + option.longName() + ", got '" + text + "'");
    }
    return Integer.parseInt(text);
  }

  /** Reads a size: MiB by default, rounded up; 0 means all memory (sbatch(1), --mem). */
  private static Optional<Long> mebibytes(String text) {
    OptionalLong bytes = SlurmSize.bytes(text, SlurmSize.MIB);
    if (bytes.isEmpty()) {
      throw new IllegalArgumentException("expected memory such as 8G, got '" + text + "'");
    }
    return Optional.of((bytes.getAsLong() + SlurmSize.MIB - 1) / SlurmSize.MIB)
        .filter(mib -> mib > 0);
  }

  /**
   * Returns the TRES as sacct prints them with {@code --noconvert}. Billing is the number of CPUs.
   */
  String tres() {
    String memory = memoryMib.map(mib -> ",mem=" + mib + "M").orElse("");
    return "billing=" + cpus + ",cpu=" + cpus + memory + ",node=1";
  }
}
