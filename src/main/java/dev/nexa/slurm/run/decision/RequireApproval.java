package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.records.approvals.Approvable;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalDirectory;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.ApprovalMatcher;
import dev.nexa.slurm.records.approvals.ApprovalUse;
import dev.nexa.slurm.records.approvals.ApprovalUseLog;
import dev.nexa.slurm.records.approvals.ApprovedPipeline;
import dev.nexa.slurm.records.approvals.ApprovedRun;
import dev.nexa.slurm.records.approvals.Grant;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds the approval for a run over the policy's limits. Without an approval, the run is not
 * submitted and its estimate is written to {@code estimates/}.
 */
final class RequireApproval {
  private static final int MOST_TOLD = 5;

  private final Context context;
  private final Policy policy;
  private final Asked whole;
  private final Approvable asked;
  private final BudgetGate budgets;
  private final Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);

  RequireApproval(Context context, Policy policy, Asked whole, BudgetGate budgets) {
    this.context = context;
    this.policy = policy;
    this.whole = whole;
    this.asked = whole.proposal();
    this.budgets = budgets;
  }

  /**
   * Returns the approval that covers what is asked for, and takes a use of it.
   *
   * @param named the file that the user named; if empty, the approval is searched in the policy's
   *     folder
   * @return empty if the approval of the run itself covers its rerun
   * @throws NexaException if there is none; the estimate is then written, and the advice says what
   *     to send to whom
   */
  Optional<Approved> claim(Optional<String> named) {
    List<Decision.Mismatch> before = new ArrayList<>();
    Optional<Rerun> rerun = whole.rerun();
    if (rerun.isPresent() && named.isEmpty() && coversRerun(rerun.get(), before)) {
      return Optional.empty();
    }
    Approved approved;
    do {
      Decision decision = decide(named, before);
      if (decision instanceof Decision.Refused refused) {
        throw new ApprovalRefusal(context, policy, whole).of(refused);
      }
      approved = (Approved) decision;
      if (rerun.isPresent()) {
        rerun.get().requireWithin(approved, ((Proposal) asked).estimate(), context.workspace());
      }
    } while (!approved.grant().claim());
    return Optional.of(approved);
  }

  /** Returns whether an approval covers the run. Takes no use of it and writes nothing. */
  boolean isCovered(Optional<String> named) {
    return decide(named, List.of()) instanceof Approved;
  }

  private Decision decide(Optional<String> named, List<Decision.Mismatch> before) {
    if (policy.approvals().isEmpty()) {
      return refuse(before, Optional.empty());
    }
    PolicyApprovals approvals = PolicyApprovals.of(context, policy);
    List<Decision.Mismatch> reasons = new ArrayList<>(before);
    if (named.isPresent()) {
      ApprovalFile file = ApprovalFile.read(Path.of(named.get()));
      Optional<Approved> approved = checkApproval(approvals, file, reasons);
      return approved.isPresent() ? approved.get() : refuse(reasons, Optional.of(approvals));
    }
    ApprovalDirectory directory = approvals.directory();
    List<ApprovalDirectory.Found> found = new ArrayList<>(directory.of(asked.digest()));
    found.addAll(directory.envelopes());
    for (ApprovalDirectory.Found one : found) {
      one.problem().ifPresent(problem -> reasons.add(Decision.Mismatch.unusable(problem, problem)));
      Optional<Approved> approved =
          one.approval().flatMap(file -> checkApproval(approvals, file, reasons));
      if (approved.isPresent()) {
        return approved.get();
      }
    }
    if (reasons.isEmpty()) {
      reasons.addAll(ofOtherVersions(approvals));
    }
    return refuse(reasons, Optional.of(approvals));
  }

  private Optional<Approved> checkApproval(
      PolicyApprovals approvals, ApprovalFile file, List<Decision.Mismatch> reasons) {
    Approval approval = file.approval();
    Optional<String> unsigned = approvals.signers().refusal(file, now);
    if (unsigned.isPresent()) {
      reasons.add(Decision.Mismatch.unusable(file.name(), file.name() + ": " + unsigned.get()));
      return Optional.empty();
    }
    Approvable pinned = asked.at(approval.scope());
    List<String> differences = differences(approvals, file, pinned);
    ApprovalUseLog uses = approvals.directory().uses(approval);
    ApprovalUse use = ApprovalUse.now(asked.submitter(), pinned.total());
    if (differences.isEmpty()) {
      try {
        uses.refusal(use, SettledApprovalUse::cost).ifPresent(differences::add);
      } catch (NexaException notCounted) {
        differences.add(String.valueOf(notCounted.getMessage()));
      }
    }
    if (!differences.isEmpty()) {
      reasons.add(mismatch(file, differences));
      return Optional.empty();
    }
    Grant grant = new Grant(file, uses, use, SettledApprovalUse::cost);
    return Optional.of(new Approved(grant, pinned, approvals.note()));
  }

  private List<String> differences(
      PolicyApprovals approvals, ApprovalFile file, Approvable pinned) {
    List<String> differences = new ArrayList<>();
    String id = file.approval().id();
    approvals
        .directory()
        .revocationOf(id)
        .ifPresent(revocation -> differences.add(revoked(revocation)));
    if (!approvals.policy().selfApproval()) {
      approvals.signers().selfApproval(file, asked.submitter()).ifPresent(differences::add);
    }
    differences.addAll(
        ApprovalMatcher.differences(file.approval(), pinned, now, approvals.policy().longest()));
    if (!file.approval().overBudget() && !budgets.over(pinned.totals()).isEmpty()) {
      differences.add("it does not let the run take more than is left of a budget");
    }
    return differences;
  }

  private static String revoked(JsonObject revocation) {
    Object by = revocation.members().get("revoked_by");
    Object reason = revocation.members().get("reason");
    return "it was revoked%s%s"
        .formatted(by == null ? "" : " by " + by, reason == null ? "" : " (" + reason + ")");
  }

  private static Decision.Mismatch mismatch(ApprovalFile file, List<String> differences) {
    String approval = "approval " + file.approval().id() + " by " + file.approval().approver();
    return Decision.Mismatch.of(approval, differences);
  }

  /**
   * Returns the differences to approvals of earlier versions of the config, which show what has
   * changed.
   */
  private List<Decision.Mismatch> ofOtherVersions(PolicyApprovals approvals) {
    List<Decision.Mismatch> reasons = new ArrayList<>();
    approvals.directory().all().stream()
        .flatMap(found -> found.approval().stream())
        .filter(file -> isNamedLike(config(file.approval().scope())))
        .takeWhile(file -> reasons.size() < MOST_TOLD)
        .forEach(file -> checkApproval(approvals, file, reasons));
    return reasons;
  }

  /** An approver may have named the config from another folder, so only the file's name counts. */
  private boolean isNamedLike(String config) {
    return config
        .substring(config.lastIndexOf('/') + 1)
        .equals(asked.config().substring(asked.config().lastIndexOf('/') + 1));
  }

  private static String config(Approval.Scope scope) {
    return scope instanceof ApprovedRun run
        ? run.config()
        : scope instanceof ApprovedPipeline pipeline ? pipeline.config() : "";
  }

  /**
   * Returns whether the run's own approval also covers a rerun of some tasks.
   *
   * <p>The rerun takes no further use. The whole run with its rerun must stay within the approval,
   * and within an envelope's monthly limit. If it does, the run's use is enlarged to the whole
   * run's new cost.
   *
   * @param reasons receives the reasons if the approval does not cover the rerun
   * @return false also if the run has no approval
   */
  private boolean coversRerun(Rerun rerun, List<Decision.Mismatch> reasons) {
    RunFolder run = rerun.run();
    if (policy.approvals().isEmpty() || !Files.exists(run.approval())) {
      return false;
    }
    PolicyApprovals approvals = PolicyApprovals.of(context, policy);
    ApprovalFile file = ApprovalFile.read(run.approval());
    Optional<String> unsigned = approvals.signers().refusal(file, now);
    if (unsigned.isPresent()) {
      reasons.add(Decision.Mismatch.unusable(file.name(), file.name() + ": " + unsigned.get()));
      return false;
    }
    List<String> differences = differences(approvals, file, rerun.whole());
    Money own = asked.total();
    Money today = rerun.today().total();
    Money most = own.compareTo(today) < 0 ? today : own;
    Money approved = file.approval().mostFor(rerun.whole().digest());
    RunMoney money = rerun.money().get();
    if (money.withRerun(most).compareTo(approved) > 0) {
      differences.add(money.beyond(most, approved));
    }
    try {
      requireUse(approvals.directory().uses(file.approval()), run, differences);
    } catch (NexaException notCounted) {
      differences.add(String.valueOf(notCounted.getMessage()));
    }
    if (differences.isEmpty()) {
      return true;
    }
    reasons.add(mismatch(file, differences));
    return false;
  }

  /** Enlarges the run's use by the rerun's cost, unless there are differences. */
  private void requireUse(ApprovalUseLog uses, RunFolder run, List<String> differences) {
    RunState state = RunState.of(run.journal().read());
    // The pipeline holds the use. The stage stays within its own part, so the sum does too.
    if (state
        .pipeline()
        .flatMap(id -> held(uses, context.workspace().pipeline(id).path()))
        .isPresent()) {
      return;
    }
    Optional<ApprovalUse> held = held(uses, run.path());
    if (held.isEmpty()) {
      differences.add("no use of it is held by " + run.path());
      return;
    }
    ApprovalUse use = held.get();
    Money more = asked.total();
    Money inAll =
        SettledApprovalUse.cost(use)
            .map(cost -> new Money(cost, more.currency()))
            .orElse(use.reservation())
            .plus(more);
    uses.refusalOf(use, inAll, SettledApprovalUse::cost).ifPresent(differences::add);
    if (!differences.isEmpty()) {
      return;
    }
    // The run is open again, so its cost until now is no longer final.
    context.workspace().markOpen(run.id());
    if (!uses.enlarge(use, inAll, SettledApprovalUse::cost)) {
      differences.add("somebody else has just taken what was left of the month");
    }
  }

  private static Optional<ApprovalUse> held(ApprovalUseLog uses, Path holder) {
    return uses.all().stream()
        .filter(use -> !use.released() && use.run().equals(Optional.of(holder.toString())))
        .findFirst();
  }

  private Decision.Refused refuse(
      List<Decision.Mismatch> reasons, Optional<PolicyApprovals> approvals) {
    return new Decision.Refused(budgets.over(asked.totals()), reasons, approvals);
  }
}
