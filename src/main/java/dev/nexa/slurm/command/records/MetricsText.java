package dev.nexa.slurm.command.records;

import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.records.runs.Heartbeat;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;

/**
 * Formats the newest pass in Prometheus' text format, version 0.0.4, for node_exporter's textfile
 * collector.
 *
 * <p>Each sample has the workspace as a label, because the collector merges the files of all
 * workspaces.
 */
public final class MetricsText {
  private final StringBuilder text = new StringBuilder();
  private final String labels;

  private MetricsText(String workspace) {
    labels = "{workspace=\"" + escaped(workspace) + "\"}";
  }

  /**
   * Returns the file's content.
   *
   * @param workspace the workspace's absolute path
   * @param unfinished the number of unfinished runs after the pass
   */
  public static String of(String workspace, Heartbeat last, int unfinished, Instant now) {
    MetricsText all = new MetricsText(workspace);
    all.gauge(
        "last_pass_timestamp_seconds",
        "When reconcile last began a pass.",
        last.lastPass().getEpochSecond());
    if (last.lastSuccess().isPresent()) {
      all.gauge(
          "last_success_timestamp_seconds",
          "When the last pass began that got all its answers from Slurm.",
          last.lastSuccess().get().getEpochSecond());
    }
    Duration behind =
        last.behindSince().map(since -> Duration.between(since, now)).orElse(Duration.ZERO);
    all.gauge(
        "behind_seconds",
        "For how long it has not been known what happens to jobs; 0 where all is known.",
        behind.toSeconds());
    all.gauge("runs_unfinished", "Runs that have not ended.", unfinished);
    all.gauge("runs_read", "Runs that the last pass looked at.", last.runsRead());
    all.gauge("runs_changed", "Runs of which the last pass found news.", last.runsChanged());
    all.gauge("rows_read", "Accounting rows that the last pass read.", last.rowsRead());
    all.gauge(
        "pass_duration_seconds",
        "How long the last pass took.",
        BigDecimal.valueOf(last.took().toMillis(), 3).toPlainString());
    return all.text.toString();
  }

  /** Returns the figures of runs, money and notifications. */
  static String of(String workspace, PrometheusFigures figures) {
    MetricsText all = new MetricsText(workspace);
    all.family("runs", "Unfinished runs by state.");
    figures.unfinished().forEach((state, runs) -> all.sample("runs", runs, "state", state));
    all.family("month_runs_ended", "Runs that ended in this month, by status.");
    figures
        .ended()
        .forEach((status, runs) -> all.sample("month_runs_ended", runs, "status", status));
    all.family(
        "month_queue_wait_seconds",
        "How long the runs that ended in this month waited for their first start.");
    figures
        .waits()
        .forEach(
            (quantile, seconds) ->
                all.sample("month_queue_wait_seconds", seconds, "share", quantile));
    all.family(
        "month_cost", "What the runs that ended in this month cost, minus credits, by project.");
    for (PrometheusFigures.Spent spent : figures.spent()) {
      all.sample(
          "month_cost",
          spent.amount().toPlainString(),
          "project",
          spent.project(),
          "currency",
          spent.currency());
    }
    all.budgets(
        "budget_spent", "What was spent of a budget in its period.", figures, BudgetStatus::spent);
    all.budgets(
        "budget_reserved",
        "What unfinished runs may still take of a budget.",
        figures,
        BudgetStatus::reserved);
    all.budgets(
        "budget_limit",
        "The amount of a budget.",
        figures,
        budget -> budget.budget().amount().amount());
    all.family("notifications", "Notifications of this user that wait, or that did not arrive.");
    all.sample("notifications", figures.noticesWaiting(), "state", "waiting");
    all.sample("notifications", figures.noticesFailed(), "state", "failed");
    return all.text.toString();
  }

  private void budgets(
      String name,
      String help,
      PrometheusFigures figures,
      Function<BudgetStatus, BigDecimal> value) {
    family(name, help);
    for (BudgetStatus budget : figures.budgets()) {
      sample(
          name,
          value.apply(budget).toPlainString(),
          "budget",
          budget.name(),
          "period",
          budget.budget().period(),
          "currency",
          budget.budget().amount().currency());
    }
  }

  private void family(String name, String help) {
    text.append("# HELP nexa_slurm_").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE nexa_slurm_").append(name).append(" gauge\n");
  }

  /** Adds a sample; names and values of further labels follow each other. */
  private void sample(String name, Object value, String... more) {
    text.append("nexa_slurm_").append(name).append(labels, 0, labels.length() - 1);
    for (int i = 0; i < more.length; i += 2) {
      text.append(',').append(more[i]).append("=\"").append(escaped(more[i + 1])).append('"');
    }
    text.append("} ").append(value).append('\n');
  }

  private void gauge(String name, String help, Object value) {
    family(name, help);
    sample(name, value);
  }

  /** Escapes backslashes, quotes and line feeds in a label's value. */
  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
