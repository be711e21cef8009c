package dev.nexa.slurm.job.plan;

import java.util.Optional;

/**
 * The resources that one task is charged for, over all its nodes. On exclusive nodes these are the
 * whole nodes, whatever the config asks for.
 *
 * @param cpus the number of CPUs
 * @param memoryBytes the memory in bytes
 * @param gpus the number of GPUs
 * @param gpuType the type of the GPUs, if the config or the profile names one
 */
public record BilledResources(int cpus, long memoryBytes, int gpus, Optional<String> gpuType) {}
