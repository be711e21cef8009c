package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.ApprovalUseLog;
import dev.nexa.slurm.records.approvals.ApprovedRun;
import dev.nexa.slurm.records.approvals.UnixUser;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Finds the approval that already allows what an approver is about to sign. Pure. */
final class ExistingApproval {
  private ExistingApproval() {}

  /**
   * The permission that an approver wants to give. If a value is empty, the approver did not type
   * it: any valid approval will do.
   *
   * @param expires the time until which the approval must be valid
   * @param uses the runs that must still be allowed
   * @param most the amount that each run must be allowed to cost
   */
  record Wanted(
      Approval.Scope scope, Optional<Instant> expires, int uses, Money most, boolean overBudget) {}

  /** Returns the approval that allows all this; empty if there is none. */
  static Optional<ShowApprovals.Row> find(
      Wanted wanted, List<ShowApprovals.Row> rows, Instant now) {
    return rows.stream()
        .filter(row -> row.state() == ShowApprovals.State.VALID)
        .filter(row -> row.file().filter(file -> allows(row, file, wanted, now)).isPresent())
        .findFirst();
  }

  private static boolean allows(
      ShowApprovals.Row row, ApprovalFile file, Wanted wanted, Instant now) {
    Approval approval = file.approval();
    return content(approval.scope()).equals(content(wanted.scope()))
        && isFor(approval.scope().submitter(), wanted.scope().submitter())
        && approval.uses() - ApprovalUseLog.taken(row.uses()) >= wanted.uses()
        && approval.maxCost().currency().equals(wanted.most().currency())
        && approval.maxCost().compareTo(wanted.most()) >= 0
        && (approval.overBudget() || !wanted.overBudget())
        && wanted.expires().map(until -> lasts(approval.expires(), until, now)).orElse(true);
  }

  /** A command repeated a little later means the same approval: a tenth of the time may be over. */
  private static boolean lasts(Instant expires, Instant wanted, Instant now) {
    return !expires.isBefore(wanted.minus(Duration.between(now, wanted).dividedBy(10)));
  }

  /** Returns what the approval allows, as text; of a single run without its submitter. */
  private static String content(Approval.Scope scope) {
    JsonObject json = Codec.write((Record) scope);
    return (scope instanceof ApprovedRun ? json.with("submitter", null) : json).toString();
  }

  private static boolean isFor(Optional<UnixUser> allowed, Optional<UnixUser> wanted) {
    return allowed.isEmpty() || (wanted.isPresent() && allowed.get().is(wanted.get()));
  }
}
