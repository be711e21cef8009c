package dev.nexa.slurm.usage;

/**
 * A step's row. Steps repeat their job's resources: only what was measured counts.
 *
 * @param begun epoch seconds as an unsigned int, or {@link JobRow#UNKNOWN}
 * @param ended whether it has an end
 * @param cpuMicros CPU time used
 * @param maxRss the largest task's memory, bytes
 * @param peak the memory of all its tasks together, bytes
 * @param gpuBusyMillis milliseconds of a whole GPU's work, over all its GPUs
 */
record StepRow(
    UsageId id,
    int line,
    int begun,
    boolean ended,
    long cpuMicros,
    long maxRss,
    long peak,
    long gpuBusyMillis) {

  /** The same, as if it stood in another line. */
  StepRow at(int other) {
    return new StepRow(id, other, begun, ended, cpuMicros, maxRss, peak, gpuBusyMillis);
  }
}
