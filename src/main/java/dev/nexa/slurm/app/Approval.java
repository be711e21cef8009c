package dev.nexa.slurm.app;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.ApprovalGate;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Workspace;
import java.nio.file.Path;

/** What costs more than the policy lets through goes no further than estimates/. */
final class Approval {
  private Approval() {}

  /**
   * Stops what needs an approval.
   *
   * @param config the file it came from
   */
  static void require(Nexa nexa, Estimate estimate, Policy policy, String config) {
    if (!ApprovalGate.needsApproval(estimate, policy)) {
      return;
    }
    Path file = keep(nexa, estimate.toJson(true), config);
    throw new NexaException(
        ExitCode.NEEDS_APPROVAL,
        "this run can cost "
            + estimate.total()
            + "; the policy lets "
            + policy.approvalOver()
            + " through without an approval ("
            + policy.name()
            + ")",
        "nothing was submitted; the estimate is in " + file,
        "ask for less (a shorter time, fewer tasks, fewer requeues), or ask whoever keeps the policy");
  }

  /** Writes what an approver signs to estimates/. */
  static Path keep(Nexa nexa, JsonObject estimate, String config) {
    Workspace workspace = nexa.workspace();
    Path file = workspace.estimate(estimate.text("config_digest"));
    workspace.files().directories(workspace.estimates());
    workspace.files().replace(file, Json.pretty(estimate.with("config", config)));
    return file;
  }
}
