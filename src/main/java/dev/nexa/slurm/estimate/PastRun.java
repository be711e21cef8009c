package dev.nexa.slurm.estimate;

import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * A run that has ended, completed or at its time limit: what the next one is judged by.
 *
 * @param gpuSeconds GPUs times the seconds they were held, over all tasks and attempts
 * @param cpuSeconds the same of CPUs
 * @param width GPUs of one task, or its CPUs where it has no GPUs
 * @param longestSeconds its longest attempt
 * @param cost of what it held; without what its files cost
 * @param reservation what it could cost at most, in the cost's currency
 * @param expected what was expected of it, in the same
 */
public record PastRun(
    String runId,
    Traits traits,
    int tasks,
    long gpuSeconds,
    long cpuSeconds,
    Optional<Integer> width,
    Optional<Long> longestSeconds,
    DataSize data,
    Money cost,
    Optional<BigDecimal> reservation,
    Optional<BigDecimal> expected) {}
