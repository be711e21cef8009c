package dev.nexa.slurm.records.telemetry;

import dev.nexa.slurm.base.json.Codec;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The content of one file: an attempt of a task on one node.
 *
 * @param file the file
 * @param facts what the file's first line says about the node
 * @param series the series of each GPU, then those of the node; a measure that the node could not
 *     read has none
 * @param before the values of the first sample, which is taken before the command starts; empty if
 *     the file has no whole sample
 * @param after the values of the last sample
 * @param totals what the job moved in the sampled time
 * @param samples how many samples the file has
 * @param gpuMemoryBytes the memory of all the job's GPUs on the node; 0 if it is not known
 * @param brokenLines how many lines could not be read
 * @param hangs how often the GPUs' program gave no answer in time
 * @param fewestGpus the fewest GPUs that a sample saw, if these were fewer than the job has on the
 *     node
 * @param ended whether the sampler wrote its last line: it was not killed
 */
public record NodeTelemetry(
    TelemetryFile file,
    Facts facts,
    long gpuMemoryBytes,
    List<Series> series,
    Optional<Sample> before,
    Optional<Sample> after,
    Totals totals,
    long samples,
    long brokenLines,
    int hangs,
    Optional<Integer> fewestGpus,
    boolean ended) {

  /**
   * The first line of a file.
   *
   * @param number the node's number in the job, from 0
   * @param nodes how many nodes the job has
   * @param intervalSeconds the time between samples
   * @param gpus how many GPUs the job has on the node
   * @param source the program that was asked about GPUs: {@code nvidia-smi}, {@code rocm-smi} or
   *     {@code none}
   * @param activity {@code dcgmi} if SM activity is read, otherwise {@code none}
   * @param cpus how many CPUs the job has on the node
   * @param memoryBytes how much memory the job may use on the node; empty if there is no limit
   */
  public record Facts(
      int number,
      int nodes,
      int intervalSeconds,
      int gpus,
      String source,
      String activity,
      int cpus,
      Optional<Long> memoryBytes) {
    static final Facts UNKNOWN = new Facts(0, 1, 0, 0, "none", "none", 1, Optional.empty());
  }

  /**
   * All values of one moment.
   *
   * @param values the newest value of each series that has one, in the order of the series
   */
  public record Sample(Instant at, List<Value> values) {
    /** A value of one GPU or of the node. */
    public record Value(Measure measure, Optional<Integer> gpu, double value) {}
  }

  /** The bytes that the job's processes read and wrote, and that the node received and sent. */
  public record Totals(
      Optional<Long> readBytes,
      Optional<Long> writtenBytes,
      Optional<Long> receivedBytes,
      Optional<Long> sentBytes)
      implements Codec.Flat {}

  /** Returns a copy with these series only. */
  public NodeTelemetry with(List<Series> kept) {
    return new NodeTelemetry(
        file,
        facts,
        gpuMemoryBytes,
        List.copyOf(kept),
        before,
        after,
        totals,
        samples,
        brokenLines,
        hangs,
        fewestGpus,
        ended);
  }
}
