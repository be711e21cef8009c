package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Approval;
import dev.nexa.slurm.approve.ApprovalDirectory;
import dev.nexa.slurm.approve.ApprovalFile;
import dev.nexa.slurm.approve.ApprovedRun;
import dev.nexa.slurm.approve.Covers;
import dev.nexa.slurm.approve.Grant;
import dev.nexa.slurm.approve.Proposal;
import dev.nexa.slurm.approve.Use;
import dev.nexa.slurm.approve.Uses;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.units.Money;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What costs more than the policy lets through goes no further than estimates/, unless somebody who
 * may has approved it.
 */
final class RequireApproval {
  private static final int MOST_TOLD = 5;

  private final Nexa nexa;
  private final Policy policy;
  private final Proposal proposal;
  private final JsonObject estimate;
  private final BudgetGate budgets;
  private final Instant now = Instant.now();

  /**
   * For one run.
   *
   * @param estimate as an approver is to read it
   * @param budgets that the run takes from
   */
  RequireApproval(
      Nexa nexa, Policy policy, Proposal proposal, JsonObject estimate, BudgetGate budgets) {
    this.nexa = nexa;
    this.policy = policy;
    this.proposal = proposal;
    this.estimate = estimate;
    this.budgets = budgets;
  }

  /**
   * The approval that covers the run, of which no use is taken yet.
   *
   * @param named the file that the person named; else it is looked for where the policy says
   * @throws NexaException if there is none: the estimate is written, and the message says what to
   *     send to whom
   */
  Approved check(Optional<String> named) {
    return check(named, List.of());
  }

  /**
   * The same, where something else was tried before.
   *
   * @param before why that was of no use
   */
  Approved check(Optional<String> named, List<String> before) {
    if (policy.approvals().isEmpty()) {
      throw refused(before, Optional.empty());
    }
    PolicyApprovals approvals = PolicyApprovals.of(nexa, policy);
    List<String> reasons = new ArrayList<>(before);
    if (named.isPresent()) {
      ApprovalFile file = ApprovalFile.read(Path.of(named.get()));
      Optional<Approved> approved = approved(approvals, file, reasons);
      return approved.orElseThrow(() -> refused(reasons, Optional.of(approvals)));
    }
    ApprovalDirectory directory = approvals.directory();
    List<ApprovalDirectory.Found> found =
        new ArrayList<>(directory.of(proposal.estimate().configDigest()));
    found.addAll(directory.envelopes());
    for (ApprovalDirectory.Found one : found) {
      one.problem().ifPresent(reasons::add);
      if (one.approval().isPresent()) {
        Optional<Approved> approved = approved(approvals, one.approval().get(), reasons);
        if (approved.isPresent()) {
          return approved.get();
        }
      }
    }
    if (reasons.isEmpty()) {
      reasons.addAll(ofOtherVersions(approvals));
    }
    throw refused(reasons, Optional.of(approvals));
  }

  private Optional<Approved> approved(
      PolicyApprovals approvals, ApprovalFile file, List<String> reasons) {
    Approval approval = file.approval();
    Optional<String> unsigned = approvals.signers().refusal(file, now);
    if (unsigned.isPresent()) {
      reasons.add(file.name() + ": " + unsigned.get());
      return Optional.empty();
    }
    Estimate pinned =
        approval.scope() instanceof ApprovedRun run
            ? proposal.estimate().at(Rates.fromJson(run.rates()))
            : proposal.estimate();
    List<String> differences = differences(approvals, file, proposal.at(pinned));
    Uses uses = approvals.directory().uses(approval);
    Use use = Use.now(proposal.submitter(), pinned.total());
    if (differences.isEmpty()) {
      try {
        uses.refusal(use, SettledUse::cost).ifPresent(differences::add);
      } catch (NexaException notCounted) {
        differences.add(String.valueOf(notCounted.getMessage()));
      }
    }
    if (!differences.isEmpty()) {
      reasons.add(told(file, differences));
      return Optional.empty();
    }
    Grant grant = new Grant(file, uses, use, SettledUse::cost);
    return Optional.of(new Approved(grant, pinned, approvals.note()));
  }

  private List<String> differences(PolicyApprovals approvals, ApprovalFile file, Proposal asked) {
    List<String> differences = new ArrayList<>();
    String id = file.approval().id();
    approvals
        .directory()
        .revocationOf(id)
        .ifPresent(revocation -> differences.add(revoked(revocation)));
    if (!approvals.policy().selfApproval()) {
      approvals.signers().selfApproval(file, proposal.submitter()).ifPresent(differences::add);
    }
    differences.addAll(
        Covers.differences(file.approval(), asked, now, approvals.policy().longest()));
    if (!file.approval().overBudget() && !budgets.over(asked.estimate().total()).isEmpty()) {
      differences.add("it does not let the run take more than is left of a budget");
    }
    return differences;
  }

  private static String revoked(JsonObject revocation) {
    Object by = revocation.members().get("revoked_by");
    Object reason = revocation.members().get("reason");
    return "it was revoked"
        + (by == null ? "" : " by " + by)
        + (reason == null ? "" : " (" + reason + ")");
  }

  private static String told(ApprovalFile file, List<String> differences) {
    return file.name()
        + " by "
        + file.approval().approver()
        + ApprovalRefusal.NOT_COVERED
        + String.join("; ", differences);
  }

  /** Approvals of the same config as it was before: they tell what has changed since. */
  private List<String> ofOtherVersions(PolicyApprovals approvals) {
    List<String> reasons = new ArrayList<>();
    for (ApprovalDirectory.Found found : approvals.directory().all()) {
      boolean told =
          found.approval().isPresent()
              && found.approval().get().approval().scope() instanceof ApprovedRun run
              && run.config().equals(proposal.config());
      if (told && reasons.size() < MOST_TOLD) {
        approved(approvals, found.approval().get(), reasons);
      }
    }
    return reasons;
  }

  /**
   * The approval that a run has, for some of its tasks once more: it takes no other use, and all of
   * the run together must stay within what it allows, also for the month of an envelope. Empty,
   * with the reasons, if it does not; else the run's use carries what the run can now cost in all.
   *
   * @param whole all of the run, as it was approved
   * @param spent what the run has cost so far
   */
  Optional<ApprovalFile> ofRun(RunFolder run, Proposal whole, Money spent, List<String> reasons) {
    if (policy.approvals().isEmpty() || !Files.exists(run.approval())) {
      return Optional.empty();
    }
    PolicyApprovals approvals = PolicyApprovals.of(nexa, policy);
    ApprovalFile file = ApprovalFile.read(run.approval());
    Optional<String> unsigned = approvals.signers().refusal(file, now);
    if (unsigned.isPresent()) {
      reasons.add(file.name() + ": " + unsigned.get());
      return Optional.empty();
    }
    List<String> differences = differences(approvals, file, whole);
    Money together = spent.plus(proposal.estimate().total());
    if (together.compareTo(file.approval().maxCost()) > 0) {
      differences.add(
          "the run has cost "
              + spent
              + ", this can cost "
              + proposal.estimate().total()
              + " more, and at most "
              + file.approval().maxCost()
              + " was approved");
    }
    try {
      requireUse(approvals.directory().uses(file.approval()), run, differences);
    } catch (NexaException notCounted) {
      differences.add(String.valueOf(notCounted.getMessage()));
    }
    if (differences.isEmpty()) {
      return Optional.of(file);
    }
    reasons.add(told(file, differences));
    return Optional.empty();
  }

  /** What the run's use must hold, it holds then, unless something speaks against the rerun. */
  private void requireUse(Uses uses, RunFolder run, List<String> differences) {
    Optional<Use> held = held(uses, run);
    if (held.isEmpty()) {
      differences.add("no use of it is held by " + run.path());
      return;
    }
    Use use = held.get();
    Money more = proposal.estimate().total();
    Money inAll =
        SettledUse.cost(use)
            .map(cost -> new Money(cost, more.currency()))
            .orElse(use.reservation())
            .plus(more);
    uses.refusalOf(use, inAll, SettledUse::cost).ifPresent(differences::add);
    if (!differences.isEmpty()) {
      return;
    }
    // What it cost until now is no longer what it costs in the end.
    nexa.workspace().markOpen(run.id());
    if (!uses.enlarge(use, inAll, SettledUse::cost)) {
      differences.add("somebody else has just taken what was left of the month");
    }
  }

  private static Optional<Use> held(Uses uses, RunFolder run) {
    for (Use use : uses.all()) {
      if (!use.released() && use.run().equals(Optional.of(run.path().toString()))) {
        return Optional.of(use);
      }
    }
    return Optional.empty();
  }

  private NexaException refused(List<String> reasons, Optional<PolicyApprovals> approvals) {
    return new ApprovalRefusal(nexa, policy, proposal, estimate, budgets).of(reasons, approvals);
  }
}
