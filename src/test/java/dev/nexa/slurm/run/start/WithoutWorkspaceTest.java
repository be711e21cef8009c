package dev.nexa.slurm.run.start;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The note for a run outside a workspace names the policy that is in force. */
class WithoutWorkspaceTest {
  @Test
  void theAdminsPolicyIsNamedWhereThereIsOne() {
    assertThat(SubmitRun.withoutWorkspace("there is no workspace in /a", true, false))
        .isEqualTo(
            "note: there is no workspace in /a: the policy is /etc/nexa-slurm/policy.yaml; prices"
                + " and cluster profile are the jar's");
    assertThat(SubmitRun.withoutWorkspace("there is no workspace in /a", false, false))
        .endsWith(": policy, prices and cluster profile are the jar's");
  }
}
