package dev.nexa.slurm.approve;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.plan.RunnerFile;
import dev.nexa.slurm.render.Script;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a run is made of, as digests to sign and as names to tell a difference by. */
public final class WhatRuns {
  /** A sweep of thousands has a file a task: more than these are one digest, without names. */
  private static final int MOST_FILES = 100;

  private WhatRuns() {}

  /**
   * The digests.
   *
   * @param limits of the same run
   * @param planDigest the plan's own
   */
  public static JsonObject of(Script script, JsonObject limits, String planDigest) {
    JsonObject json =
        new JsonObject()
            .with("script_sha256", Sha256.of(script.text()))
            .with("options_sha256", Sha256.of(limits.toString()));
    Map<String, String> digests = new TreeMap<>();
    for (RunnerFile file : script.files()) {
      digests.put(file.name(), file.digest());
    }
    JsonObject byName = new JsonObject();
    for (Map.Entry<String, String> file : digests.entrySet()) {
      byName.with(file.getKey(), file.getValue());
    }
    json.with("files_sha256", Sha256.of(byName.toString())).with("plan_sha256", planDigest);
    return json.with("files", digests.size() > MOST_FILES ? new JsonObject() : byName);
  }

  /**
   * The options of sbatch that cost or give rights. {@code gpus}, {@code cpus} and {@code
   * memory_bytes} are what one task is billed for, over all its nodes.
   *
   * @param plan as plan.json keeps it
   */
  public static JsonObject limits(JsonObject plan) {
    JsonObject allocation = plan.object("allocation");
    JsonObject billed = plan.object("billed");
    long requeues = plan.number("requeues");
    long chain = plan.number("chain");
    JsonObject limits =
        new JsonObject()
            .with("tasks", plan.number("tasks"))
            .with("attempts", chain * (1 + requeues))
            .with("requeues", requeues)
            .with("chain", chain)
            .with("time_limit_seconds", allocation.number("time_limit_seconds"))
            .with("nodes", allocation.number("nodes"))
            .with("gpus", billed.number("gpus"))
            .with("gpu_type", billed.optionalText("gpu_type").orElse(null))
            .with("cpus", billed.number("cpus"))
            .with("memory_bytes", billed.number("memory_bytes"))
            .with("cluster", plan.text("cluster"));
    for (String option : List.of("partition", "account", "qos", "constraint", "nodelist")) {
      limits.with(option, allocation.optionalText(option).orElse(null));
    }
    return limits
        .with("slurm_reservation", allocation.optionalText("reservation").orElse(null))
        .with("exclusive", allocation.flag("exclusive"));
  }
}
