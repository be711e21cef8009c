package dev.nexa.slurm.run.decision;

import java.util.List;
import java.util.Optional;

/** The answer to a run that needs an approval, because of its cost or because of a budget. */
public sealed interface Decision permits Approved, Decision.Refused {
  /**
   * No approval covers the run.
   *
   * @param overBudgets a line for each budget that the run would exceed; empty if it exceeds none
   * @param mismatches the approvals that were tried
   * @param approvals the policy's rules for approvals; empty if the policy names no approvers
   */
  record Refused(
      List<String> overBudgets, List<Mismatch> mismatches, Optional<PolicyApprovals> approvals)
      implements Decision {}

  /**
   * An approval that does not cover the run.
   *
   * @param approval the approval's id and approver; its file if the signature is not good
   * @param differences a sentence for each difference between the approval and the run; empty if
   *     the approval cannot be read or is not trusted
   * @param text the line for the user
   */
  record Mismatch(String approval, List<String> differences, String text) {
    /** Returns the mismatch of an approval that cannot be read or is not trusted. */
    static Mismatch unusable(String approval, String text) {
      return new Mismatch(approval, List.of(), text);
    }

    /** Returns the mismatch of a trusted approval; there must be at least one difference. */
    static Mismatch of(String approval, List<String> differences) {
      String text = approval + " does not cover it:\n    " + String.join(";\n    ", differences);
      return new Mismatch(approval, List.copyOf(differences), text);
    }

    /** Returns how far the approval is from covering the run: an untrusted approval is farthest. */
    int distance() {
      return differences.isEmpty() ? Integer.MAX_VALUE : differences.size();
    }
  }
}
