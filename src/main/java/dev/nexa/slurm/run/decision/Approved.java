package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.Grant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An approval that covers a run.
 *
 * @param estimate the run's estimate; an approval of one run pins its rates, an envelope does not
 * @param note a warning about the policy for the user
 */
public record Approved(Grant grant, Estimate estimate, Optional<String> note) implements Decision {

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
        .with("total", estimate.total().amount().toPlainString())
        .with("rates_digest", estimate.rates().digest());
  }

  /** Returns lines for the user. */
  List<String> notes() {
    List<String> notes = new ArrayList<>();
    notes.add(
        "approved by "
            + approval().approver()
            + " ("
            + approval().id()
            + ", expires "
            + approval().expires()
            + "), at the prices of "
            + estimate.rates().book()
            + " as of "
            + estimate.rates().asOf());
    if (note.isPresent()) {
      notes.add("note: " + note.get());
    }
    return notes;
  }
}
