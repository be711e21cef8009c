package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.records.approvals.Approvable;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.Grant;
import dev.nexa.slurm.records.approvals.Proposal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An approval that covers a run.
 *
 * @param asked the run or pipeline, at the prices that the approval pins
 * @param note a warning about the policy for the user
 */
public record Approved(Grant grant, Approvable asked, Optional<String> note) implements Decision {

  /** Returns the run's estimate. Must not be called for a pipeline as a whole. */
  public Estimate estimate() {
    return ((Proposal) asked).estimate();
  }

  /** Returns the same approval for one of the runs. */
  Approved ofRun(int index) {
    return new Approved(grant, asked.runs().get(index), Optional.empty());
  }

  Approval approval() {
    return grant.approval();
  }

  /**
   * Returns the quote that estimate.json keeps: the approval, its expiry, the total and the rates'
   * digest.
   */
  JsonObject quote() {
    return new JsonObject()
        .with("approval_id", approval().id())
        .with("approver", approval().approver())
        .with("expires", approval().expires())
        .with("total", estimate().total().amount().toPlainString())
        .with("rates_digest", estimate().rates().digest());
  }

  /** Returns lines for the user. */
  List<String> notes() {
    List<String> notes = new ArrayList<>();
    String prices =
        asked instanceof Proposal run
            ? ", at the prices of %s as of %s"
                .formatted(run.estimate().rates().book(), run.estimate().rates().asOf())
            : "";
    notes.add(
        "approved by %s (%s, expires %s)%s"
            .formatted(approval().approver(), approval().id(), approval().expires(), prices));
    note.ifPresent(words -> notes.add("note: " + words));
    return notes;
  }
}
