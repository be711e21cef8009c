package dev.nexa.slurm.records.approvals;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.render.Renderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ResourceOptionTest {

  @ParameterizedTest
  @EnumSource
  void anOptionGoesFromTheConfigToSbatchThePlanAndTheApproval(ResourceOption option) {
    Plan plan = plan(option.key() + ": a1");
    PlanFile file = PlanFile.of(plan);

    assertThat(Renderer.options(plan)).contains("--" + option.key() + "=a1");
    assertThat(file.option(option)).contains("a1");
    assertThat(ApprovedContent.limits(file).text(option.approvalKey())).isEqualTo("a1");
  }

  @ParameterizedTest
  @EnumSource
  void anotherValueOrNoneIsNotWhatWasApproved(ResourceOption option) {
    assertThat(
            ApprovedLimits.differences(
                ApprovedContent.limits(PlanFile.of(plan(option.key() + ": a1"))),
                ApprovedContent.limits(PlanFile.of(plan("nodes: 1")))))
        .singleElement()
        .asString()
        .endsWith(": a1 was approved, this is none (resources." + option.key() + ")");
  }

  @Test
  void anApprovalOfARunWithoutNewerOptionsHasTheBytesThatWereSignedBefore() {
    assertThat(ApprovedContent.limits(PlanFile.of(plan("account: b, reservation: c"))))
        .hasToString(
            "{\"tasks\":1,\"attempts\":1,\"requeues\":0,\"chain\":1,\"time_limit_seconds\":300,"
                + "\"nodes\":1,\"gpus\":0,\"gpu_type\":null,\"cpus\":1,\"memory_bytes\":4294967296,"
                + "\"cluster\":\"mine\",\"partition\":null,\"account\":\"b\",\"qos\":null,"
                + "\"constraint\":null,\"nodelist\":null,\"slurm_reservation\":\"c\","
                + "\"exclusive\":false}");
  }

  private static Plan plan(String resources) {
    return Plans.of(
        "stage: data\nbackend: shell\nrun: 'true'\nresources: {time: 5m, " + resources + "}\n",
        Plans.CLUSTER);
  }
}
