package dev.nexa.slurm.cluster.scheduler.slurm;

import java.time.Duration;
import java.util.Optional;

/**
 * One partition, as {@code scontrol show partition} prints it.
 *
 * @param byDefault whether jobs that name no partition get it
 * @param maxTime its MaxTime; empty for UNLIMITED
 * @param maxNodes its MaxNodes; empty for UNLIMITED
 */
public record PartitionFacts(
    String name, boolean byDefault, Optional<Duration> maxTime, Optional<Long> maxNodes) {}
