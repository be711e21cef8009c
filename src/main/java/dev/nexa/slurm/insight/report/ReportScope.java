package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunId;
import java.util.Optional;

/**
 * The subject of a report: the whole workspace, one month, one run or one pipeline.
 *
 * @param run the only run; empty for other reports
 * @param pipeline the only pipeline; empty for other reports
 * @param month the month of the runs, such as {@code 2025-11}; empty for all months
 * @param mostDetails how many runs get a page of their own, the newest first
 */
public record ReportScope(
    Optional<RunId> run,
    Optional<PipelineFolder> pipeline,
    Optional<String> month,
    int mostDetails) {

  /** Returns whether the report has the sums of the first page. */
  boolean hasOverview() {
    return run.isEmpty() && pipeline.isEmpty();
  }

  /** Returns the usual name of a published report. */
  public String fileName() {
    return run.map(RunId::value)
            .or(() -> pipeline.map(PipelineFolder::id))
            .or(() -> month)
            .orElse("index")
        + ".html";
  }
}
