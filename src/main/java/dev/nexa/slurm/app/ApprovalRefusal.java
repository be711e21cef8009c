package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Approval;
import dev.nexa.slurm.approve.Proposal;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.render.Script;
import dev.nexa.slurm.units.Money;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What a person is told whose run needs an approval that it has not got. */
final class ApprovalRefusal {
  /** What stands between an approval's name and its differences. */
  static final String NOT_COVERED = " does not cover it: ";

  private static final int REASONS_TOLD = 3;

  private final Nexa nexa;
  private final Policy policy;
  private final Proposal proposal;
  private final JsonObject estimate;
  private final BudgetGate budgets;

  ApprovalRefusal(
      Nexa nexa, Policy policy, Proposal proposal, JsonObject estimate, BudgetGate budgets) {
    this.nexa = nexa;
    this.policy = policy;
    this.proposal = proposal;
    this.estimate = estimate;
    this.budgets = budgets;
  }

  /**
   * Writes the estimate, and says what to send to whom.
   *
   * @param reasons why the approvals that there are are of no use
   * @param approvals empty where the policy names nobody who may approve
   */
  NexaException of(List<String> reasons, Optional<PolicyApprovals> approvals) {
    Workspace workspace = nexa.workspace();
    Path file = workspace.estimate(proposal.estimate().configDigest()).toAbsolutePath().normalize();
    workspace.files().directories(workspace.estimates());
    workspace.files().replace(file, Json.pretty(estimate));
    List<String> advice = new ArrayList<>();
    advice.addAll(warnings());
    String less =
        over().isEmpty() ? "ask for less: a shorter time, fewer tasks, fewer requeues" : "";
    if (!over().isEmpty()) {
      advice.add("type `nexa-slurm reconcile`: it releases what ended runs had reserved");
      less = "ask for less";
    }
    if (approvals.isEmpty()) {
      advice.add(over().isEmpty() ? less : "or " + less);
      advice.add(
          "or ask whoever keeps the policy: it names nobody who may approve (docs/approvals.md)");
      advice.add("nothing was submitted; the estimate is in " + file);
      return new NexaException(ExitCode.NEEDS_APPROVAL, why(), advice);
    }
    ask(approvals.get(), file, advice);
    advice.add("or " + less);
    advice.add("nothing was submitted; the estimate is in " + file);
    List<String> alike = new ArrayList<>(reasons);
    alike.sort(Comparator.comparingInt(ApprovalRefusal::differences));
    for (int i = 0; i < Math.min(alike.size(), REASONS_TOLD); i++) {
      advice.add(alike.get(i));
    }
    if (reasons.size() > REASONS_TOLD) {
      advice.add(
          (reasons.size() - REASONS_TOLD) + " more do not cover it: `nexa-slurm approvals list`");
    }
    approvals.get().note().ifPresent(note -> advice.add("note: " + note));
    return new NexaException(ExitCode.NEEDS_APPROVAL, why(), advice);
  }

  /** How many a reason tells; what can't be read or trusted is like no other. */
  private static int differences(String reason) {
    return reason.contains(NOT_COVERED) ? reason.split("; ", -1).length : Integer.MAX_VALUE;
  }

  /** Whom to send what, who types what then, and where it is looked for. */
  private void ask(PolicyApprovals approvals, Path file, List<String> advice) {
    List<String> broken = approvals.signers().allowed().problems();
    List<String> principals = others(approvals);
    if (!broken.isEmpty()) {
      advice.add("nobody can approve until this is mended: " + String.join("; ", broken));
      return;
    }
    if (principals.isEmpty()) {
      advice.add(
          "nobody may approve it now: whoever keeps "
              + approvals.signers().allowed().file()
              + " can add a line");
      return;
    }
    List<String> command = new ArrayList<>(List.of("nexa-slurm", "approve", file.toString()));
    if (!over().isEmpty()) {
      command.add("--over-budget");
    }
    advice.add(
        "send " + file + " to " + either(principals) + ", who types: " + Script.shellLine(command));
    advice.add(
        "then type this again: the approval is looked for in "
            + approvals.directory().path()
            + "; or name it: --approval FILE");
  }

  /** What nobody should have approved before they know it: that it does not fit, or not finish. */
  private List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    Optional<JsonObject> memory = estimate.optionalObject("memory");
    if (memory.isPresent() && Boolean.FALSE.equals(memory.get().members().get("fits"))) {
      warnings.add("note: memory of a GPU: " + memory.get().text("sentence"));
    }
    Optional<JsonObject> expected = estimate.optionalObject("expected");
    if (expected.isPresent() && expected.get().optionalObject("limit_too_short").isPresent()) {
      warnings.add("note: the run " + expected.get().object("limit_too_short").text("sentence"));
    }
    return warnings;
  }

  private List<String> over() {
    return budgets.over(proposal.estimate().total());
  }

  /** Whom to ask: not oneself, unless the policy allows that. */
  private List<String> others(PolicyApprovals approvals) {
    List<String> others = new ArrayList<>();
    for (String principal :
        approvals.signers().allowed().principals(Approval.NAMESPACE, Instant.now())) {
      if (approvals.policy().selfApproval() || !proposal.submitter().mayBe(principal)) {
        others.add(principal);
      }
    }
    return others;
  }

  private String why() {
    Money total = proposal.estimate().total();
    List<String> why = new ArrayList<>();
    if (total.currency().equals(policy.approvalOver().currency())
        && total.compareTo(policy.approvalOver()) > 0) {
      why.add(
          "this run can cost "
              + total
              + "; the policy lets "
              + policy.approvalOver()
              + " through without an approval ("
              + policy.name()
              + ")");
    }
    why.addAll(over());
    return why.isEmpty() ? "this run has not the approval that was named" : String.join("\n", why);
  }

  private static String either(List<String> names) {
    return names.size() == 1
        ? names.get(0)
        : String.join(", ", names.subList(0, names.size() - 1))
            + " or "
            + names.get(names.size() - 1);
  }
}
