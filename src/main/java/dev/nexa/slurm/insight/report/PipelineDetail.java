package dev.nexa.slurm.insight.report;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The page of one pipeline, as of the last pass.
 *
 * @param state the pipeline's state; empty before the first pass
 * @param cost of the attempts that have ended
 * @param total the most that all stages can cost
 */
public record PipelineDetail(
    String id,
    String name,
    String user,
    Instant created,
    String state,
    Optional<BigDecimal> cost,
    BigDecimal total,
    String currency,
    List<Stage> stages) {

  /**
   * A stage of the pipeline.
   *
   * @param run the id of its run
   * @param after the stages that it waits for, and sbatch's words, such as {@code afterok}
   * @param why why it waits or failed; may be empty
   */
  public record Stage(
      String name,
      String run,
      Map<String, String> after,
      String state,
      String why,
      Optional<BigDecimal> cost,
      BigDecimal total,
      long tasks) {}
}
