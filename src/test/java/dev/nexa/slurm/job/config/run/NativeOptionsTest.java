package dev.nexa.slurm.job.config.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.backend.Backends;
import dev.nexa.slurm.job.backend.Launch;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A runner's own file, named by {@code options_file}. */
class NativeOptionsTest {
  private static final String CLUSTER =
      "gpu_type: h100\nstorage: {scratch: /scratch, durable: /durable, shared: /shared}\n";
  private static final String GPUS = "resources: {gpus_per_node: 4, time: 1h}\n";
  private static final String AXOLOTL =
      "stage: train\nbackend: axolotl\noptions_file: own.yml\n" + GPUS;
  private static final String QLORA =
      DurableFiles.read(Path.of("src/test/resources/native/axolotl-qlora.yml"));

  @Test
  void theFileIsKeptByteForByteButForWhatThePlanDecides() {
    Plan plan = plan(AXOLOTL, QLORA);
    String kept = content(launch(plan), "axolotl.yaml");

    assertThat(kept).isEqualTo(QLORA + "auto_resume_from_checkpoints: true\n");
    assertThat(content(launch(plan(AXOLOTL, kept)), "axolotl.yaml")).isEqualTo(kept);
    assertThat(launch(plan).command()).containsSequence("--output-dir", "${checkpoints}");
    assertThat(PlanFile.of(plan).json().text("options_file")).hasSize(64);
    assertThat(plan.digest()).isNotEqualTo(plan(AXOLOTL, QLORA + "\n# changed\n").digest());
  }

  @Test
  void estimatesReadTheModelTheDataAndTheRest() {
    Plan plan = plan(AXOLOTL, QLORA);

    assertThat(plan.model()).contains("example/Tiny-7B");
    assertThat(plan.inputs().dataset()).contains("alpaca");
    assertThat(plan.training().parameters()).contains(7_000_000_000L);
    assertThat(plan.training().precision()).isEqualTo("bf16");
    assertThat(plan.training().adapter()).isEqualTo("qlora");
    assertThat(plan.training().strategy()).isEqualTo("fsdp");
    assertThat(plan.training().integer("batch_size")).contains(2);
    assertThat(plan.training().integer("max_length")).contains(4096);
    assertThat(plan.notes())
        .contains(
            "own.yml and this config say: model example/Tiny-7B, dataset example/alpaca, precision bf16,"
                + " adapter qlora, batch_size 2, max_length 4096, epochs 3, 4 GPUs");
    assertThat(plan(AXOLOTL, "base_model: some/thing\n").notes().get(0))
        .contains("; not known: dataset, precision, batch_size, max_length, epochs");
  }

  @Test
  void deprecatedAndReplacedKeysAreNoted() {
    assertThat(launch(plan(AXOLOTL, QLORA)).notes())
        .anyMatch(note -> note.contains("own.yml: flash_attention: deprecated, but axolotl 0.18.0"))
        .anyMatch(note -> note.contains("output_dir: './outputs/out' is replaced by the run's"))
        .anyMatch(note -> note.contains("own.yml: fsdp: deprecated"));
  }

  /** The config's own keys win over the file, and options win over both. */
  @Test
  void theConfigAndItsOptionsWin() {
    String config =
        AXOLOTL
            + "lr: 1e-5\nepochs: 1\noptions: {num_epochs: 2, fsdp_config: {offload_params: false}}\n";
    String kept = content(launch(plan(config, QLORA)), "axolotl.yaml");

    assertThat(kept)
        .contains("learning_rate: 0.00001\n", "num_epochs: 2\n")
        .doesNotContain("2e-4", "num_epochs: 3", "num_epochs: 1")
        .contains("fsdp_transformer_layer_cls_to_wrap: \"LlamaDecoderLayer\"")
        .contains("offload_params: false")
        .contains("sequence_len: 4096\n");
  }

  @Test
  void acceleratesFileGivesMachinesAndGpus() {
    Plan plan =
        plan(
            "stage: train\nbackend: acc\noptions_file: own.yml\nmodel_name: m\ndataset_path: d\n"
                + "resources: {time: 1h, gpu_type: h100}\n",
            DurableFiles.read(Path.of("src/test/resources/native/accelerate-fsdp.yaml")));

    assertThat(plan.allocation().nodes()).isEqualTo(2);
    assertThat(plan.allocation().gpusPerNode()).isEqualTo(8);
    assertThat(plan.training().strategy()).isEqualTo("fsdp");
    assertThat(launch(plan).command())
        .containsSequence("--num_machines", "2", "--num_processes", "16")
        .containsSequence("--main_process_port", "${master_port}");
  }

  @Test
  void theShippedFileIsGivenAsItIs() {
    String file = DurableFiles.read(Path.of("configs/acc/fsdp_4gpu.yaml"));
    String config =
        DurableFiles.read(Path.of("configs/acc/science_sharded.yaml"))
            .replace("fsdp_4gpu.yaml", "own.yml");

    assertThat(content(launch(plan(config, file)), "accelerate.yaml")).isEqualTo(file);
  }

  @Test
  void aDeepSpeedFileBesideItIsKeptToo() {
    ConfigFolder folder =
        folder(AXOLOTL, "base_model: m-7b\ndeepspeed: ds/zero3.json\n").with("ds/zero3.json", "{}");
    Launch launch = launch(Plans.of(folder));

    assertThat(launch.command()).containsSequence("--deepspeed", "${run_dir}/runner/zero3.json");
    assertThat(content(launch, "zero3.json")).isEqualTo("{}");
    assertThat(launch(plan(AXOLOTL, "base_model: m-7b\ndeepspeed: ds/zero3.json\n")).notes())
        .anyMatch(note -> note.contains("there is no ds/zero3.json beside it"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          base_model: m\\nlearning_rat: 1            | own.yml:2:1: learning_rat: axolotl 0.18.0 (git 2f5cb9da62a0) has no option 'learning_rat' (did you mean 'learning_rate'?)
          base_model: m\\ndatasets:\\n  - pth: x      | own.yml:3:5: datasets.pth: axolotl
          base_model: m\\nwandb_projct:              | own.yml:2:1: wandb_projct: axolotl
          base_model: m\\ndpo_norm_loss: true        | own.yml:2:1: dpo_norm_loss: axolotl 0.18.0 (git 2f5cb9da62a0) refuses 'dpo_norm_loss' unless it is empty
          base_model: m\\nauto_resume_from_checkpoints: false | own.yml:2:1: auto_resume_from_checkpoints: is 'false', but the plan has true
          - a                                       | own.yml:1:1: expected a mapping of keys, got a list
          a: [                                      | own.yml
          """)
  void whatIsWrongIsNamedWithItsLine(String file, String message) {
    assertThatThrownBy(() -> launch(plan(AXOLOTL, file.replace("\\n", "\n"))))
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "/etc/passwd, does not lie beside this file",
    "../own.yml, does not lie beside this file",
    "none.yml, no such file"
  })
  void itLiesBesideTheConfig(String path, String message) {
    assertThatThrownBy(() -> plan(AXOLOTL.replace("own.yml", path), "a: 1\n"))
        .hasMessageContaining("run.yaml:3:15: options_file: ")
        .hasMessageContaining(message);
  }

  @Test
  void aBackendWithoutAFileOfItsOwnSaysSo() {
    assertThatThrownBy(() -> plan(AXOLOTL.replace("axolotl", "vllm"), "a: 1\n"))
        .hasMessageContaining("backend vllm has no config file of its own");
  }

  /** Empty keys may stand among inline options too, and the data may be named there. */
  @Test
  void optionsMayBeEmptyAndNameTheData() {
    String config =
        "stage: train\nbackend: ax\noptions:\n  base_model: a/b-7b\n  wandb_project:\n"
            + "  datasets: [{path: x/y, type: alpaca}]\n"
            + GPUS;
    String kept = content(launch(plan(config, "a: 1\n")), "axolotl.yaml");

    assertThat(kept).contains("base_model: \"a/b-7b\"", "wandb_project: null", "path: \"x/y\"");
    assertThat(kept).doesNotContain("chat_template");
  }

  private static Plan plan(String config, String file) {
    return Plans.of(folder(config, file));
  }

  private static ConfigFolder folder(String config, String file) {
    return new ConfigFolder()
        .with("run.yaml", config)
        .with("own.yml", file)
        .with("configs/clusters/mine.yaml", CLUSTER);
  }

  private static Launch launch(Plan plan) {
    return Backends.launch(plan, Backends.builtIn(plan.backend()).orElseThrow());
  }

  private static String content(Launch launch, String name) {
    RunnerFile found =
        launch.files().stream().filter(file -> file.name().equals(name)).findAny().orElseThrow();
    return new String(found.content(), StandardCharsets.UTF_8);
  }
}
