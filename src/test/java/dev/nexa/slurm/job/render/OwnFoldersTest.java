package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.backend.Backends;
import dev.nexa.slurm.job.backend.Launch;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What two tasks write, they write in folders of their own: no command and no file that a backend
 * makes names the root of a tier, or a folder that two tasks share.
 */
class OwnFoldersTest {
  private static final String CLUSTER =
      "gpu_type: h100\nstorage: {scratch: /the/scratch, durable: /the/durable, shared: /the/shared}\n";

  /** Folders of one task, and what only reads. */
  private static final List<String> OWN =
      List.of(
          "${task_scratch}",
          "${checkpoints}",
          "${durable}/evals/${run_id}/task_${task}",
          "${run_dir}/runner/",
          "${filled}/");

  private static final String ARRAY = "array: {shards: 2}\n";
  private static final String SWEEP = "sweep: {seed: [1, 2]}\n";

  @ParameterizedTest
  @ValueSource(strings = {"hf", "axolotl", "accelerate"})
  void aTrainingWritesInFoldersOfItsOwn(String backend) {
    int right = 0;
    for (String adapter : List.of("none", "lora", "qlora")) {
      for (String strategy : List.of("ddp", "fsdp", "zero1", "zero2", "zero3")) {
        for (String offload : List.of("none", "cpu", "nvme")) {
          for (String more : List.of("", "use_kd: true\n", "use_kd: true\nteacher_model: t-7b\n")) {
            for (String tasks : List.of(ARRAY, SWEEP)) {
              right +=
                  holds(
                      "stage: train\nmodel_name: m-7b\ndataset_path: /data\nbackend: "
                          + backend
                          + "\nadapter: "
                          + adapter
                          + "\nstrategy: "
                          + strategy
                          + "\noffload: "
                          + offload
                          + "\n"
                          + more
                          + tasks
                          + "eval_steps: 5\nsave_steps: 5\n"
                          + "resources: {nodes: 2, gpus_per_node: 2, time: 1h}\n");
            }
          }
        }
      }
    }
    assertThat(right).isGreaterThan(5);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "stage: eval\nbackend: lm_eval\nmodel_name: m\noptions: {tasks: [a]}\nresources: {gpus_per_node: 2, time: 1h}",
        "stage: generate\nbackend: vllm\nmodel_name: m\noptions: {input_file: i, output_file: o}\nresources: {gpus_per_node: 2, time: 1h}",
        "stage: train\nbackend: python\nentrypoint: {module: m}\nresources: {time: 1h}",
        "stage: train\nbackend: accelerate\nstrategy: zero3\noffload: nvme\nentrypoint: {module: m}\nresources: {gpus_per_node: 2, time: 1h}",
        "stage: data\nbackend: shell\nrun: 'true'\nresources: {time: 1h}",
      })
  void soDoesAnyOtherStage(String config) {
    assertThat(holds(config + "\n" + ARRAY)).isOne();
    if (!config.contains("shell") && !config.contains("backend: vllm")) {
      assertThat(holds(config + "\n" + SWEEP)).isOne();
    }
  }

  /** What a user's own file says is the user's, but it is said. */
  @Test
  void aFolderOfTheUsersOwnIsNoted() {
    String accelerate =
        "stage: train\nbackend: accelerate\nstrategy: zero3\nmodel_name: m-7b\ndataset_path: /data\n"
            + "resources: {gpus_per_node: 2, time: 1h}\n"
            + "options: {accelerate: {deepspeed_config: {offload_param_device: nvme, offload_param_nvme_path: ";

    assertThat(launch(accelerate + "/local_nvme}}}\n").notes())
        .anyMatch(
            note -> note.contains("offload_param_nvme_path: all jobs that swap to /local_nvme"));
    assertThat(launch(accelerate + "'${scratch}'}}}\n").notes())
        .anyMatch(note -> note.contains("all jobs that swap to /the/scratch"));
    assertThat(launch(accelerate + "'${task_scratch}/x'}}}\n").notes()).isEmpty();
    assertThat(launch(accelerate + "null}}}\n").notes()).isEmpty();
  }

  @Test
  void oneFileOfAnswersForAllTasksIsRefused() {
    String config =
        "stage: generate\nbackend: vllm\nmodel_name: m\n"
            + ARRAY
            + "resources: {gpus_per_node: 2, time: 1h}\noptions: {input_file: /i, output_file: ";

    assertThat(refusal(config + "/o.jsonl}\n"))
        .contains("options.output_file: all tasks would write this one file");
    assertThat(refusal(config + "\"${durable}/o_${task}.jsonl\"}\n")).isEmpty();
  }

  private static String refusal(String config) {
    try {
      launch(config);
      return "";
    } catch (ConfigException refused) {
      return String.valueOf(refused.getMessage());
    }
  }

  /** Returns 1 if the config launches, and 0 if it is refused. */
  private static int holds(String config) {
    Launch launch;
    try {
      launch = launch(config);
    } catch (ConfigException refused) {
      return 0;
    }
    List<String> texts = new ArrayList<>(launch.command());
    launch.words().forEach(words -> words.stream().flatMap(Optional::stream).forEach(texts::add));
    texts.addAll(launch.teacher());
    for (RunnerFile file : launch.files()) {
      if (!file.name().endsWith(".py")) {
        texts.add(new String(file.content(), StandardCharsets.UTF_8));
      }
    }
    for (String text : texts) {
      String left = text;
      for (String own : OWN) {
        left = left.replace(own, "");
      }
      assertThat(left)
          .as(config)
          .doesNotContain("/the/", "${scratch}", "${durable}", "${shared}", "${output}");
    }
    return 1;
  }

  private static Launch launch(String config) {
    Plan plan =
        Plans.of(
            new ConfigFolder()
                .with("run.yaml", config)
                .with("configs/clusters/mine.yaml", CLUSTER));
    Launch made = Backends.launch(plan, Backends.builtIn(plan.backend()).orElseThrow());
    return FilledFiles.inWords(made);
  }
}
