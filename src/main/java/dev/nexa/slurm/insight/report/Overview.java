package dev.nexa.slurm.insight.report;

import java.util.List;

/**
 * The sums of the first page.
 *
 * @param months the months of all sums, oldest first
 * @param currencies the currency of the most runs first
 */
public record Overview(
    List<String> months,
    List<CurrencySums> currencies,
    List<GpuHours> gpu,
    List<QueueWaits> waits,
    List<BudgetOutlook> budgets) {}
