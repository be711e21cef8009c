package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * What one attempt of one task cost. Six decimals, because only the run's lines are rounded to
 * cents: rounded attempts would not add up to them.
 *
 * @param state as accounting printed it
 */
public record AttemptCost(
    long task, long jobId, String state, String nodes, long elapsedSeconds, BigDecimal amount) {

  /** The attempts of a cost file, in its order. */
  public static List<AttemptCost> of(JsonObject cost) {
    List<AttemptCost> costs = new ArrayList<>();
    for (JsonObject attempt : cost.object("actual").objects("attempts")) {
      costs.add(
          new AttemptCost(
              attempt.number("task"),
              attempt.number("job_id"),
              attempt.text("state"),
              attempt.optionalText("nodes").orElse(""),
              attempt.number("elapsed_seconds"),
              new BigDecimal(attempt.text("cost"))));
    }
    return costs;
  }
}
