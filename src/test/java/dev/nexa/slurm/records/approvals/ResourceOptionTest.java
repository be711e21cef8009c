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
    String value = value(option);
    Plan plan = plan(written(option));
    PlanFile file = PlanFile.of(plan);

    assertThat(Renderer.options(plan))
        .contains(
            switch (option) {
              case SBATCH_OPTIONS -> value;
              case GPUS, GPUS_PER_TASK -> "--" + option.option() + "=h100:" + value;
              default -> "--" + option.option() + "=" + value;
            });
    assertThat(file.option(option)).contains(value);
    assertThat(ApprovedContent.limits(file).text(option.approvalKey())).isEqualTo(value);
  }

  @ParameterizedTest
  @EnumSource
  void anotherValueOrNoneIsNotWhatWasApproved(ResourceOption option) {
    assertThat(
            ApprovedLimits.differences(
                ApprovedContent.limits(PlanFile.of(plan(written(option)))),
                ApprovedContent.limits(PlanFile.of(plan("nodes: 1")))))
        .filteredOn(one -> one.endsWith("(resources." + option.key() + ")"))
        .singleElement()
        .asString()
        .contains(": " + value(option) + " was approved, this is none");
  }

  private static String value(ResourceOption option) {
    return switch (option) {
      case HINT -> "nomultithread";
      case MEMORY_PER_CPU, MEMORY_PER_GPU -> "1G";
      case SBATCH_OPTIONS -> "--nice=5";
      default -> option.sizes() ? "2" : "a1";
    };
  }

  private static String written(ResourceOption option) {
    boolean perGpu = option.key().endsWith("per_gpu");
    String type = option.countsGpus() ? "gpu_type: h100, " : "";
    return type + (perGpu ? "gpus: 4, " : "") + option.key() + ": " + value(option);
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
