package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.plan.AttemptSize;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.RunnerFile;
import dev.nexa.slurm.job.render.Script;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Describes the content of a run for an approval: digests to sign, and names to report differences
 * by.
 */
public final class ApprovedContent {
  /**
   * A sweep may have a file for each of thousands of tasks. Above this number, files have one
   * digest and no names.
   */
  private static final int MOST_FILES = 100;

  /**
   * Approvals of all runs name these options, in this order. A longer list would change the digest
   * of approvals that are signed already: other options are named only if a run sets them.
   */
  private static final List<ResourceOption> ALWAYS_SIGNED =
      List.of(
          ResourceOption.PARTITION,
          ResourceOption.ACCOUNT,
          ResourceOption.QOS,
          ResourceOption.CONSTRAINT,
          ResourceOption.NODELIST,
          ResourceOption.RESERVATION);

  private ApprovedContent() {}

  /**
   * Returns the digests of a run: script, options, runner files and plan.
   *
   * @param limits the {@link #limits} of the run
   * @param planDigest the plan's own digest
   * @param codeDigest the digest of the packed working tree; empty if the run has none, and then
   *     the content has no key for it
   * @param programDigest the digest of our own program; empty if the run does not run it, and then
   *     the content has no key for it
   */
  public static JsonObject of(
      Script script,
      JsonObject limits,
      String planDigest,
      Optional<String> codeDigest,
      Optional<String> programDigest) {
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
    json.withOptional("code_sha256", codeDigest);
    json.withOptional("program_sha256", programDigest);
    json.with("files_sha256", Sha256.of(byName.toString())).with("plan_sha256", planDigest);
    return json.with("files", digests.size() > MOST_FILES ? new JsonObject() : byName);
  }

  /**
   * Returns the options of sbatch that affect cost or rights, by name, and the most tokens of a
   * paid API if the run uses one. {@code gpus}, {@code cpus} and {@code memory_bytes} are the
   * billed resources of one task over all its nodes.
   *
   * @param plan the content of plan.json
   */
  public static JsonObject limits(PlanFile plan) {
    long requeues = plan.requeues();
    long chain = plan.chain();
    JsonObject limits =
        new JsonObject()
            .with("tasks", plan.tasks())
            .with("attempts", chain * (1 + requeues))
            .with("requeues", requeues)
            .with("chain", chain)
            .with("time_limit_seconds", plan.timeLimit().toSeconds())
            .with("nodes", plan.nodes())
            .with("gpus", plan.gpus())
            .with("gpu_type", plan.gpuType().orElse(null))
            .with("cpus", plan.cpus())
            .with("memory_bytes", plan.memoryBytes())
            .with("cluster", plan.cluster());
    for (ResourceOption option : ALWAYS_SIGNED) {
      limits.with(option.approvalKey(), plan.option(option).orElse(null));
    }
    limits.with("exclusive", plan.exclusive());
    for (ResourceOption option : ResourceOption.values()) {
      limits.withOptional(option.approvalKey(), plan.option(option));
    }
    if (!plan.grown().isEmpty()) {
      AttemptSize.addTo(limits, plan.grown());
    }
    if (!plan.groups().isEmpty()) {
      limits.with("groups", plan.groups().stream().map(ApprovedContent::limits).toList());
    }
    if (plan.apiTokens().isPresent()) {
      plan.apiTokens().get().addTo(limits);
    }
    return limits;
  }
}
