package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.job.config.NodeSharing;
import java.time.Duration;
import java.util.Optional;
import java.util.SortedSet;

/**
 * One partition, as Slurm describes it now.
 *
 * @param byDefault whether jobs that name no partition get it
 * @param maxTime its MaxTime; empty for UNLIMITED
 * @param maxNodes its MaxNodes; empty for UNLIMITED
 * @param sharing what jobs get of its nodes beyond what they ask for
 * @param gpuTypes the types of its GPUs; the empty string stands for GPUs without a type
 */
public record PartitionFacts(
    String name,
    boolean byDefault,
    Optional<Duration> maxTime,
    Optional<Long> maxNodes,
    NodeSharing sharing,
    SortedSet<String> gpuTypes) {}
