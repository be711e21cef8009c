package dev.nexa.slurm.insight.report;

/**
 * What one project spent in one month.
 *
 * @param project the project; empty for runs without one
 */
public record ProjectMonth(String project, MonthSums sums) {}
