package dev.nexa.slurm.insight.report;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Everything that one report holds.
 *
 * @param workspace the name of the workspace's folder
 * @param redacted whether names are replaced and texts left out
 * @param scope what the report was limited to, in words; empty for the whole workspace
 * @param overview the sums; empty if the report is about one run or pipeline
 * @param runs the rows of the table, newest first
 * @param details the pages of runs, newest first
 * @param mostDetails the limit of pages of runs
 * @param problems a line for each record that could not be read
 */
public record Report(
    String workspace,
    boolean redacted,
    Instant made,
    Optional<String> scope,
    Optional<Overview> overview,
    List<ReportedRun> runs,
    List<RunDetail> details,
    int mostDetails,
    List<PipelineDetail> pipelines,
    List<ReleaseDetail> releases,
    List<String> problems) {}
