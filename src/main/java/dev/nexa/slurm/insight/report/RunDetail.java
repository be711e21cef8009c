package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.job.estimate.CostLine;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * The page of one run.
 *
 * @param facts what the run was
 * @param failure why it failed; empty if it did not
 * @param metrics what its tasks reported
 * @param links pages of other programs about the run
 * @param charts what was sampled, and the losses
 * @param idleShare the share of the GPUs' time in which no kernel ran, from 0 to 1; empty if it was
 *     not sampled
 * @param inputs the earlier runs whose output it read
 * @param remediation what was done about its failures
 * @param script the script that sbatch was given; empty if it is missing or was changed
 * @param config the resolved config
 */
public record RunDetail(
    ReportedRun run,
    List<Fact> facts,
    Optional<ExplainedFailure> failure,
    Costs costs,
    List<Fact> metrics,
    List<OutsideLink> links,
    List<ReportedChart> charts,
    Optional<BigDecimal> idleShare,
    List<String> inputs,
    List<Fact> remediation,
    Optional<String> script,
    Optional<String> config) {

  /**
   * The money of the run.
   *
   * @param sums reserved, expected, actual, and why they differ
   * @param lines the priced lines of the cost
   * @param attempts the rows of sacct that make up the cost, by task and start
   */
  public record Costs(List<Fact> sums, List<CostLine> lines, List<ReportedAttempt> attempts) {
    static final Costs NONE = new Costs(List.of(), List.of(), List.of());
  }
}
