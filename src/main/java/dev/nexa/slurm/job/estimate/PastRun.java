package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * A run that completed or reached its time limit; later runs are estimated by it.
 *
 * @param traits the properties that runs are compared by
 * @param tasks the number of tasks
 * @param gpuSeconds GPUs times seconds, over all tasks and attempts
 * @param cpuSeconds CPUs times seconds, over all tasks and attempts
 * @param width the GPUs of one task, or its CPUs if it has no GPUs
 * @param longestSeconds the duration of its longest attempt
 * @param data the amount of data that it processed
 * @param cost the cost of its resources, without storage
 * @param reservation the most that it could cost, in the currency of {@code cost}
 * @param expected its expected cost, in the currency of {@code cost}
 */
public record PastRun(
    String runId,
    RunSimilarity traits,
    int tasks,
    long gpuSeconds,
    long cpuSeconds,
    Optional<Integer> width,
    Optional<Long> longestSeconds,
    DataSize data,
    Money cost,
    Optional<BigDecimal> reservation,
    Optional<BigDecimal> expected) {}
