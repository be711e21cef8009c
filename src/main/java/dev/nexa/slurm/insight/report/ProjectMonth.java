package dev.nexa.slurm.insight.report;

/**
 * The spending of one project in one month.
 *
 * @param project the project; empty for runs without one
 */
public record ProjectMonth(String project, MonthSums sums) {}
