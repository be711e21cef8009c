package dev.nexa.slurm.job.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.ConfigFolder;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlanTest {
  private static final ConfigFolder FOLDER =
      new ConfigFolder()
          .with(
              "run.yaml",
              """
              stage: train
              name: science_v1
              backend: shell
              run: echo
              model_name: mistral-7b
              dataset_path: /data/science_assistant_v1.jsonl
              tags: [nightly, train]
              env: {B: 2, A: 1}
              resources: {time: 10m, nodes: 2, gpus_per_node: 2, gpu_type: h100}
              """)
          .with("configs/clusters/mine.yaml", Plans.CLUSTER);

  @Test
  void theSamePlanHasTheSameDigest() {
    assertThat(Plans.of(FOLDER).digest()).isEqualTo(Plans.of(FOLDER).digest()).hasSize(64);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "stage=eval",
        "name=other",
        "run=ls",
        "model_name=other",
        "lr=1",
        "dataset=other",
        "tags.0=x",
        "env.A=2",
        "env_file=/x",
        "resources.time=11m",
        "resources.nodes=1",
        "resources.memory=1G",
        "resources.partition=x",
        "resources.account=x",
        "resources.qos=x",
        "resources.constraint=x",
        "resources.reservation=x",
        "requeues=1",
        "array={shards: 2}",
        "software.modules=[x]",
        "software.venv=/x",
        "software.container=/x",
      })
  void anyChangeOfThePlanChangesItsDigest(String override) {
    assertThat(Plans.of(FOLDER, override).digest()).isNotEqualTo(Plans.of(FOLDER).digest());
  }

  @Test
  void theDigestCoversTheBytesOfTheFilesBesideIt() {
    ConfigFolder one = withFile("print(1)");
    ConfigFolder two = withFile("print(2)");

    assertThat(Plans.of(one).digest()).isNotEqualTo(Plans.of(two).digest());
  }

  private static ConfigFolder withFile(String content) {
    return new ConfigFolder()
        .with(
            "run.yaml", "stage: a\nbackend: shell\nrun: x\nfiles: [a.py]\nresources: {time: 1m}\n")
        .with("a.py", content)
        .with("configs/clusters/mine.yaml", Plans.CLUSTER);
  }

  @Test
  void tagsBeginWithBackendStageAndExperimentAndNameNothingTwice() {
    assertThat(Plans.of(FOLDER).allTags())
        .containsExactly("backend:shell", "train", "experiment:science_v1", "nightly");
  }

  @Test
  void hardwareIsToldInTheSeedsWords() {
    assertThat(Plans.of(FOLDER).allocation().hardware()).isEqualTo("4x h100");
    assertThat(
            Plans.of("stage: a\nbackend: shell\nrun: x\nresources: {time: 1m}\n", Plans.CLUSTER)
                .allocation()
                .hardware())
        .isEqualTo("1 CPU");
    assertThat(
            Plans.of(
                    "stage: a\nbackend: shell\nrun: x\n"
                        + "resources: {time: 1m, nodes: 2, cpus_per_task: 8}\n",
                    Plans.CLUSTER)
                .allocation()
                .hardware())
        .isEqualTo("2x 8 CPUs");
  }

  @Test
  void anAttemptMayHoldItsAllocationLongerThanItsLimit() {
    Plan plan =
        Plans.of(
            "stage: a\nbackend: shell\nrun: x\nresources: {time: 10m}\n",
            Plans.CLUSTER + "slurm: {over_time_limit_minutes: 5, kill_wait_seconds: 30}\n");

    assertThat(plan.longestAttempt()).isEqualTo(Duration.ofSeconds(600 + 300 + 30 + 60));
  }

  @Test
  void theDocumentReadsBackAsItWas() {
    Plan plan = Plans.of(FOLDER);

    assertThat(Json.parseObject(Json.pretty(PlanFile.of(plan).json())))
        .hasToString(PlanFile.of(plan).json().toString());
    assertThat(PlanFile.of(plan).json().text("model")).isEqualTo("mistral-7b");
    assertThat(PlanFile.of(plan).json().text("dataset")).isEqualTo("science_assistant_v1");
    assertThat(PlanFile.of(plan).json().object("allocation").text("time_limit"))
        .isEqualTo("0-00:10:00");
  }
}
