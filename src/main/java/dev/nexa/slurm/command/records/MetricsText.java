package dev.nexa.slurm.command.records;

import dev.nexa.slurm.records.runs.Heartbeat;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;

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
    all.gauge("last_pass_timestamp_seconds", "When reconcile last began a pass.", last.lastPass());
    if (last.lastSuccess().isPresent()) {
      all.gauge(
          "last_success_timestamp_seconds",
          "When the last pass began that got all its answers from Slurm.",
          last.lastSuccess().get());
    }
    Duration behind =
        last.behindSince().isPresent()
            ? Duration.between(last.behindSince().get(), now)
            : Duration.ZERO;
    all.gauge(
        "behind_seconds",
        "For how long it has not been known what happens to jobs; 0 where all is known.",
        behind.toSeconds());
    all.gauge("runs_unfinished", "Runs that have not ended.", unfinished);
    all.gauge("runs_read", "Runs that the last pass looked at.", last.runsRead());
    all.gauge("runs_changed", "Runs of which the last pass found news.", last.runsChanged());
    all.gauge("rows_read", "Accounting rows that the last pass read.", last.rowsRead());
    all.add(
        "pass_duration_seconds",
        "How long the last pass took.",
        BigDecimal.valueOf(last.took().toMillis(), 3).toPlainString());
    return all.text.toString();
  }

  private void gauge(String name, String help, Instant value) {
    gauge(name, help, value.getEpochSecond());
  }

  private void gauge(String name, String help, long value) {
    add(name, help, Long.toString(value));
  }

  private void add(String name, String help, String value) {
    String full = "nexa_slurm_" + name;
    text.append("# HELP ").append(full).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(full).append(" gauge\n");
    text.append(full).append(labels).append(' ').append(value).append('\n');
  }

  /** Escapes backslashes, quotes and line feeds in a label's value. */
  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
