package dev.nexa.slurm.approve;

import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.render.Script;
import java.nio.file.Path;
import java.util.List;

/**
 * A run that wants an approval.
 *
 * @param config the file it was planned from, as a person would name it: below the workspace, where
 *     it lies there
 * @param estimate at the rates of now
 */
public record Proposal(
    String config,
    String stage,
    List<String> tags,
    JsonObject whatRuns,
    JsonObject limits,
    Estimate estimate,
    Person submitter) {

  /**
   * A run that is planned and rendered.
   *
   * @param plan as plan.json keeps it
   */
  public static Proposal of(
      Path workspace, JsonObject plan, Script script, Estimate estimate, Person submitter) {
    JsonObject limits = WhatRuns.limits(plan);
    return new Proposal(
        below(workspace, plan.text("config")),
        plan.text("stage"),
        plan.texts("tags"),
        WhatRuns.of(script, limits, estimate.configDigest()),
        limits,
        estimate,
        submitter);
  }

  /** The path without its detours, so that no {@code ..} leads out of an envelope's folder. */
  static String below(Path workspace, String config) {
    if (config.startsWith("jar:")) {
      return config.substring("jar:".length());
    }
    Path root = workspace.toAbsolutePath().normalize();
    Path file = Path.of(config).toAbsolutePath().normalize();
    return (file.startsWith(root) ? root.relativize(file) : file).toString();
  }

  /** Adds to an estimate what its approver signs besides. */
  public JsonObject addTo(JsonObject json) {
    return json.with("config", config)
        .with("what_runs", whatRuns)
        .with("limits", limits)
        .with("submitter", submitter.toJson())
        .with("quote", null);
  }

  /** The same run at other rates. */
  public Proposal at(Estimate other) {
    return new Proposal(config, stage, tags, whatRuns, limits, other, submitter);
  }
}
