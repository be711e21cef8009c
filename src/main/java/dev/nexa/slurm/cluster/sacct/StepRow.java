package dev.nexa.slurm.cluster.sacct;

/**
 * The row of a step. Steps repeat their job's allocation, so only measured values are kept. An
 * unknown number is {@link JobRow#UNKNOWN}.
 *
 * @param id the step's job, task or component
 * @param name the step's name, such as {@code batch} or {@code 0}; empty for a job that is its own
 *     step
 * @param line line of the dump, from 1
 * @param begun start in epoch seconds as an unsigned int
 * @param ended whether the step is over
 * @param cpuMicros CPU time used, in microseconds
 * @param maxRss memory of the largest task, in bytes
 * @param peak memory of all tasks together, in bytes
 * @param gpuBusyMillis milliseconds of work of a whole GPU, added up over all GPUs of the step
 */
record StepRow(
    UsageId id,
    String name,
    int line,
    int begun,
    boolean ended,
    long cpuMicros,
    long maxRss,
    long peak,
    long gpuBusyMillis) {

  /** Returns a copy with another line. */
  StepRow at(int other) {
    return new StepRow(id, name, other, begun, ended, cpuMicros, maxRss, peak, gpuBusyMillis);
  }

  /** Returns a copy with another id. */
  StepRow of(UsageId other) {
    return new StepRow(other, name, line, begun, ended, cpuMicros, maxRss, peak, gpuBusyMillis);
  }

  /** Merges this step with its row in another dump. The larger of two values counts. */
  StepRow with(StepRow other) {
    return new StepRow(
        id,
        name,
        line,
        begun == JobRow.UNKNOWN ? other.begun : begun,
        ended || other.ended,
        Math.max(cpuMicros, other.cpuMicros),
        Math.max(maxRss, other.maxRss),
        Math.max(peak, other.peak),
        Math.max(gpuBusyMillis, other.gpuBusyMillis));
  }
}
