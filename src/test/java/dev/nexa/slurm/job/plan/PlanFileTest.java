package dev.nexa.slurm.job.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PlanFileTest {
  @Test
  void aKeptPlanIsReadBackAsItWasPlanned() {
    Plan plan =
        Plans.of(
            """
            stage: train
            backend: hf
            model_name: mistral-7b
            dataset_path: science_assistant_v1
            requeues: 2
            tags: [mine]
            resources: {nodes: 2, gpus_per_node: 4, gpu_type: h100, time: 2h, account: nlp}
            """,
            Plans.CLUSTER
                + "energy: {co2e_grams_per_kwh: 40, pue: 1.2, gpu_watts: {h100: 700}, source: t}\n");

    PlanFile kept =
        PlanFile.parse(
            Json.pretty(PlanFile.of(plan).rendered("run.yaml", "abc", Optional.empty()).json()),
            "plan.json");

    assertThat(kept.config()).isEqualTo("run.yaml");
    assertThat(kept.stage()).isEqualTo(plan.stage());
    assertThat(kept.backend()).contains(plan.backend());
    assertThat(kept.cluster()).isEqualTo(plan.site().cluster());
    assertThat(kept.scheduler()).isEqualTo(plan.site().scheduler());
    assertThat(kept.model()).isEqualTo(plan.model());
    assertThat(kept.dataset()).isEqualTo(plan.inputs().dataset());
    assertThat(kept.tags()).isEqualTo(plan.allTags());
    assertThat(kept.tasks()).isEqualTo(plan.tasks());
    assertThat(kept.maxArraySize()).contains(plan.site().maxArraySize());
    assertThat(kept.maxParallel()).isEqualTo(plan.shape().array().maxParallel());
    assertThat(kept.requeues()).isEqualTo(plan.supervision().requeues());
    assertThat(kept.chain()).isEqualTo(plan.shape().array().chain());
    assertThat(kept.nodes()).isEqualTo(plan.allocation().nodes());
    assertThat(kept.timeLimit()).isEqualTo(plan.allocation().timeLimit());
    assertThat(kept.longestAttempt()).isEqualTo(plan.longestAttempt());
    assertThat(kept.option(ResourceOption.PARTITION)).isEqualTo(plan.allocation().partition());
    assertThat(kept.account()).contains("nlp");
    assertThat(kept.exclusive()).isEqualTo(plan.allocation().exclusive());
    assertThat(kept.gpus()).isEqualTo(plan.billed().gpus());
    assertThat(kept.gpuType()).isEqualTo(plan.billed().gpuType());
    assertThat(kept.cpus()).isEqualTo(plan.billed().cpus());
    assertThat(kept.memoryBytes()).isEqualTo(plan.billed().memoryBytes());
    assertThat(kept.messageTimeout()).isEqualTo(plan.site().messageTimeout());
    assertThat(kept.storage()).isEqualTo(plan.site().storage());
    assertThat(kept.energy()).isEqualTo(plan.site().energy());
    assertThat(kept.points()).isEqualTo(plan.shape().array().points());
    assertThat(kept.once(3).tasks()).isEqualTo(3);
    assertThat(kept.tasks()).isEqualTo(plan.tasks());
  }

  @Test
  void aPlanOfANewerVersionIsRefusedWithTheReason() {
    assertThatThrownBy(() -> PlanFile.parse("{\"schema_version\": 2}", "runs/x/plan.json"))
        .isInstanceOf(NexaException.class)
        .hasMessage("runs/x/plan.json has schema_version 2; this nexa-slurm reads up to 1");
  }
}
