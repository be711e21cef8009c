package dev.nexa.slurm.data.stats;

/**
 * A confidence interval.
 *
 * @param confidence the share of such intervals that hold the true value, such as 0.95
 */
public record Interval(double lower, double upper, double confidence) {}
