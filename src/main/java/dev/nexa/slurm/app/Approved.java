package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Approval;
import dev.nexa.slurm.approve.Grant;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.files.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A run and the approval that covers it.
 *
 * @param estimate at the rates that are pinned in the approval of a run; an envelope pins none
 * @param note about the policy, for the person
 */
record Approved(Grant grant, Estimate estimate, Optional<String> note) {

  Approval approval() {
    return grant.approval();
  }

  /** What estimate.json keeps of it: what was promised, until when, at which rates. */
  JsonObject quote() {
    return new JsonObject()
        .with("approval_id", approval().id())
        .with("approver", approval().approver())
        .with("expires", approval().expires())
        .with("total", estimate.total().amount().toPlainString())
        .with("rates_digest", estimate.rates().digest());
  }

  /** What a person should know. */
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
