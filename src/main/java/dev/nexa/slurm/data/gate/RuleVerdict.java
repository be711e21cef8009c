package dev.nexa.slurm.data.gate;

import dev.nexa.slurm.base.json.JsonObject;

/**
 * The result of a rule.
 *
 * @param figures the rule, its values and its statistics, as they stand in the verdict's file
 * @param reason a sentence that names the metric, the values, n and the interval
 */
public record RuleVerdict(boolean passed, String reason, JsonObject figures) {
  /** Returns the figures, the verdict and the reason. */
  public JsonObject json() {
    return figures.with("verdict", passed ? "pass" : "fail").with("reason", reason);
  }
}
