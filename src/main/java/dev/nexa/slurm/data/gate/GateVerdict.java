package dev.nexa.slurm.data.gate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.data.score.MetricSummary;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The result of a gate: it passes if each rule does. */
public record GateVerdict(GateSettings settings, List<RuleVerdict> rules) {
  private static final int NEWEST = 1;

  /** Returns whether each rule passed. */
  public boolean passed() {
    return rules.stream().allMatch(RuleVerdict::passed);
  }

  /** Returns the reasons of the rules that failed, or of all if none did. */
  public String reason() {
    return rules.stream()
        .filter(rule -> rule.passed() == passed())
        .map(RuleVerdict::reason)
        .collect(Collectors.joining("; "));
  }

  /** Returns the document {@code gate.json}. */
  public JsonObject json(String candidate, Optional<String> baseline) {
    return new JsonObject()
        .with("verdict", passed() ? "pass" : "fail")
        .with("reason", reason())
        .with("candidate", candidate)
        .with("baseline", baseline.orElse(null))
        .with(SchemaVersion.KEY, NEWEST)
        .with("alpha", MetricSummary.number(settings.alpha()))
        .with("seed", settings.seed())
        .with("rules", rules.stream().map(RuleVerdict::json).toList());
  }

  /**
   * Ends a gate that failed.
   *
   * @param file the verdict's file, for the message
   * @throws NexaException if a rule failed
   */
  public void require(Path file) {
    if (!passed()) {
      throw ErrorCode.GATE_FAILED.error(
          "the gate failed: " + reason(), "read all figures in " + file);
    }
  }
}
