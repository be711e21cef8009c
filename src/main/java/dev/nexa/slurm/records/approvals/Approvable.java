package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.units.Money;
import java.util.List;

/** A thing that needs an approval: one run, or all stages of a pipeline. */
public sealed interface Approvable permits Proposal, PipelineProposal {
  /** Returns the config's or pipeline's path for people. */
  String config();

  /** Returns the digest of what is planned, 64 hex digits. Approvals are found by this digest. */
  String digest();

  /** Returns the user who submits. */
  UnixUser submitter();

  /** Returns the most that it can cost. */
  Money total();

  /** Returns the runs, in order; at least one. */
  List<Proposal> runs();

  /** Returns what each run can cost, in order. */
  default List<Money> totals() {
    return runs().stream().map(Proposal::total).toList();
  }

  /** Returns a copy at the prices that an approval pins; this object if it pins none of them. */
  Approvable at(Approval.Scope scope);
}
