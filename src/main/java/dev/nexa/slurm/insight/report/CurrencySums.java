package dev.nexa.slurm.insight.report;

import java.util.List;

/**
 * The money of the report in one currency. Amounts of different currencies are never added.
 *
 * @param months a row for each month, oldest first
 * @param projects the projects of the newest month and of the month before, most spend first
 * @param spend the spend by project, user, model, stage and pipeline
 */
public record CurrencySums(
    String currency, List<MonthSums> months, List<ProjectMonth> projects, List<SpendBy> spend) {
  /** Returns the newest month. */
  public MonthSums last() {
    return months.get(months.size() - 1);
  }
}
