package dev.nexa.slurm.plan;

import java.util.Optional;

/**
 * What one task is charged for, over all its nodes: what Slurm would allocate, which on exclusive
 * nodes is the whole node whatever was asked for.
 */
public record Billed(int cpus, long memoryBytes, int gpus, Optional<String> gpuType) {}
