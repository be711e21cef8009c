package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.job.config.site.NodeSharing;
import java.time.Duration;
import java.util.Optional;

/**
 * One partition, as Slurm describes it now.
 *
 * @param byDefault whether jobs that name no partition get it
 * @param maxTime its MaxTime; empty for UNLIMITED
 * @param maxNodes its MaxNodes; empty for UNLIMITED
 * @param sharing what jobs get of its nodes beyond what they ask for
 */
public record PartitionFacts(
    String name,
    boolean byDefault,
    Optional<Duration> maxTime,
    Optional<Long> maxNodes,
    NodeSharing sharing) {}
