package dev.nexa.slurm.job.config.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.pipeline.FromRuns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys that a config leaves out, and what the user reads of them. */
class InferredKeysTest {
  private static final String STORAGE =
      "storage: {scratch: /scratch, durable: /durable, shared: /shared}\n";

  private static final String PROFILE =
      STORAGE
          + """
          defaults:
            backend: accelerate
            resources:
              - {trains: adapters, up_to: 15B, gpus_per_node: 1, time: 2h}
              - {trains: all_weights, up_to: 3B, gpus_per_node: 1, gpu_type: a100, memory: 64G, time: 3h}
              - {trains: all_weights, up_to: 9B, strategy: fsdp, gpus_per_node: 4, time: 12h}
              - {trains: all_weights, up_to: 20B, strategy: fsdp, nodes: 2, gpus_per_node: 1, time: 1d}
          """;

  private static final String ANY = STORAGE + "defaults: {resources: [{time: 1h}]}\n";

  private static final String FROM = "from configs/clusters/default.yaml: defaults.";

  private static RunConfig read(String profile, String config, String... overrides) {
    return folder(profile, config)
        .reader()
        .run(
            "run.yaml",
            List.of(overrides),
            FromRuns.NONE,
            Optional.empty(),
            Optional.empty(),
            "default");
  }

  private static ConfigFolder folder(String profile, String config) {
    return new ConfigFolder()
        .with("run.yaml", config)
        .with("configs/clusters/default.yaml", profile);
  }

  private static List<String> problems(String profile, String config, String... overrides) {
    try {
      read(profile, config, overrides);
    } catch (NexaException wrong) {
      return wrong.getMessage().replace(ConfigFolder.PATH + "/", "").lines().toList();
    }
    throw new AssertionError("run.yaml reads without a problem");
  }

  /** The example of the documents that specified nexa-slurm, unchanged. */
  @Test
  void theSeedsExampleIsComplete() throws IOException {
    String seed = Files.readString(Path.of("src/test/resources/seed/train.yaml"));

    RunConfig config = read(PROFILE, seed);

    assertThat(config.stage()).isEqualTo("train");
    assertThat(config.backend()).isEqualTo("axolotl");
    assertThat(config.resources().gpusPerNode()).isEqualTo(4);
    assertThat(config.resources().time()).isEqualTo(Duration.ofHours(12));
    assertThat(config.training().strategy()).isEqualTo("fsdp");
    assertThat(config.notes())
        .containsExactly(
            "stage train: from run.yaml: lr",
            "backend axolotl: from run.yaml: kd_lambda. Of the runners, only axolotl has a weight"
                + " between the teacher's loss and the data's own loss. It reads the teacher's"
                + " log-probabilities from the dataset's column `logprobs` and loads no teacher"
                + " model",
            "resources gpus_per_node 4, time 12h: "
                + FROM
                + "resources[2], up_to 9B; mistral-7b-instruct has 7B parameters",
            "strategy fsdp: " + FROM + "resources[2].strategy");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "stage: train\nbackend: hf\nmodel_name: m-7b\nresources: {time: 1h}\n",
        "stage: data\nbackend: shell\nrun: echo\nresources: {time: 1h}\n",
      })
  void nothingIsAddedToACompleteConfig(String complete) {
    RunConfig with = read(PROFILE.replace("backend: acc", "stage: eval\n  backend: acc"), complete);
    RunConfig without = new ConfigFolder().with("run.yaml", complete).run();

    assertThat(with.notes()).isEmpty();
    assertThat(with.resources()).isEqualTo(without.resources());
    assertThat(with.training()).isEqualTo(without.training());
    assertThat(with.stage()).isEqualTo(without.stage());
    assertThat(with.backend()).isEqualTo(without.backend());
  }

  @Nested
  class Stage {
    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            backend: shell\\nrun: x\\nlr: 1                   | stage train: from run.yaml: lr
            run: x\\nepochs: 2                              | stage train: from run.yaml: epochs
            entrypoint: {module: m}\\ngrad_accumulation: 2  | stage train: from run.yaml: grad_accumulation
            run: x\\nsave_steps: 2                          | stage train: from run.yaml: save_steps
            run: x\\nuse_kd: true                           | stage train: from run.yaml: use_kd
            run: x\\nsweep: {lr: [1, 2]}                    | stage train: from run.yaml: sweep.lr
            model_name: m-1b\\ndataset_path: d              | stage train: from run.yaml: dataset_path
            backend: hf\\nmodel_name: m-1b                  | stage train: from run.yaml: backend: backend hf only trains
            backend: lm_eval\\nmodel_name: m-1b             | stage eval: from run.yaml: backend: backend lm_eval only evaluates
            """)
    void followsFromTheKeys(String config, String note) {
      String profile = STORAGE + "defaults: {backend: hf, resources: [{time: 1h}]}\n";

      assertThat(read(profile, config.replace("\\n", "\n")).notes()).first().isEqualTo(note);
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "run: x",
          "run: x\\nuse_kd: false",
          "run: x\\nmodel_name: m\\ndataset_path: d",
          "backend: vllm\\nmodel_name: m\\ndataset_path: d",
          "backend: vllm\\nlr: 1",
          "run: x\\nmodel_name: m\\narray: {shards: 2}",
        })
    void staysMissingIfTheKeysDoNotSay(String config) {
      assertThat(problems(ANY, config.replace("\\n", "\n")))
          .containsExactly(
              "run.yaml:1:1: stage: missing; expected a stage name such as data, train or eval; or"
                  + " write defaults.stage into configs/clusters/default.yaml");
    }

    @Test
    void comesFromTheProfileIfTheKeysDoNotSay() {
      RunConfig config =
          read(STORAGE + "defaults: {stage: data, resources: [{time: 1h}]}\n", "run: x\n");

      assertThat(config.stage()).isEqualTo("data");
      assertThat(config.notes())
          .containsExactly(
              "stage data: " + FROM + "stage",
              "backend shell: from run.yaml: run",
              "resources time 1h: " + FROM + "resources[0]");
    }

    @Test
    void isTheWrittenOne() {
      RunConfig config = read(ANY, "stage: tune\nrun: x\nlr: 1\n");

      assertThat(config.stage()).isEqualTo("tune");
      assertThat(config.notes()).noneMatch(note -> note.startsWith("stage"));
    }
  }

  @Nested
  class Backend {
    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            run: x                                            | shell      | from run.yaml: run
            entrypoint: {module: m}                           | python     | from run.yaml: entrypoint
            lr: 1                                             | accelerate | from configs/clusters/default.yaml: defaults.backend
            use_kd: false\\nkd_lambda: 0.5\\nlr: 1             | accelerate | from configs/clusters/default.yaml: defaults.backend
            use_kd: true\\nteacher_model: t                    | accelerate | from configs/clusters/default.yaml: defaults.backend
            use_kd: true\\nkd_lambda: 0.5\\nteacher_model: t    | axolotl    | from run.yaml: kd_lambda. Of the runners, only axolotl has a weight
            use_kd: true\\nsweep: {kd_lambda: [0, 1]}          | axolotl    | from run.yaml: sweep.kd_lambda. Of the runners,
            use_kd: true                                      | axolotl    | from run.yaml: use_kd. Without teacher_model, only axolotl can distil. It reads
            run: x\\nuse_kd: true\\nkd_lambda: 1                | shell      | from run.yaml: run
            """)
    void followsFromTheKeysElseFromTheProfile(String config, String backend, String note) {
      RunConfig read =
          read(PROFILE, "stage: train\nmodel_name: m-1b\n" + config.replace("\\n", "\n"));

      assertThat(read.backend()).isEqualTo(backend);
      assertThat(read.notes()).first().asString().startsWith("backend " + backend + ": " + note);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            stage: eval                         | defaults.backend in configs/clusters/default.yaml is only for runs that train
            stage: eval\\nlr: 1                  | defaults.backend in configs/clusters/default.yaml is only for runs that train
            stage: tune                         | defaults.backend in configs/clusters/default.yaml is only for runs that train
            stage: train\\nrun: x\\nentrypoint: {module: m} | run is for shell and entrypoint for python: remove one of them
            stage: train\\noptions_file: x.yaml  | name the runner that options_file belongs to
            """)
    void staysMissingIfNeitherSays(String config, String advice) {
      String time = "\nmodel_name: m-1b\nresources: {time: 1h, gpus_per_node: 1}\n";

      assertThat(problems(PROFILE, config.replace("\\n", "\n") + time))
          .containsExactly(
              "run.yaml:1:1: backend: missing; expected a name of letters, digits, '.', '_' and"
                  + " '-'; "
                  + advice);
    }

    @Test
    void canBeWrittenIntoTheProfile() {
      assertThat(problems(STORAGE, "stage: train\nresources: {time: 1h}\n"))
          .containsExactly(
              "run.yaml:1:1: backend: missing; expected a name of letters, digits, '.', '_' and"
                  + " '-'; or write defaults.backend into configs/clusters/default.yaml");
    }

    @Test
    void isTheWrittenOne() {
      assertThat(read(PROFILE, "backend: hf\nuse_kd: true\nkd_lambda: 1\nmodel_name: m-1b\n"))
          .returns("hf", RunConfig::backend);
    }
  }

  @Nested
  class OfTheModelsSize {
    private static final String TRAIN = "stage: train\nbackend: axolotl\n";

    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            model_name: m-1b                  | gpus_per_node 1, gpu_type a100, memory 64G, time 3h | resources[1], up_to 3B; m-1b has 1B parameters
            model_name: m-3b                  | gpus_per_node 1, gpu_type a100, memory 64G, time 3h | resources[1], up_to 3B; m-3b has 3B parameters
            model_name: m-7b                  | gpus_per_node 4, time 12h                           | resources[2], up_to 9B; m-7b has 7B parameters
            model_name: gpt2                  | gpus_per_node 1, gpu_type a100, memory 64G, time 3h | resources[1], up_to 3B; gpt2 has 124M parameters
            model_name: m\\nmodel_size: 13B    | nodes 2, gpus_per_node 1, time 1d                   | resources[3], up_to 20B; m has 13B parameters
            model_size: 13B                   | nodes 2, gpus_per_node 1, time 1d                   | resources[3], up_to 20B; the model has 13B parameters
            model_name: m-7b\\nadapter: lora   | gpus_per_node 1, time 2h                            | resources[0], up_to 15B; m-7b has 7B parameters
            model_name: m-7b\\nadapter: none   | gpus_per_node 4, time 12h                           | resources[2], up_to 9B; m-7b has 7B parameters
            model_name: m-7b\\nsweep: {adapter: [none, lora]} | gpus_per_node 4, time 12h            | resources[2], up_to 9B; m-7b has 7B parameters
            """)
    void resourcesAreTheFirstEntryThatFits(String config, String values, String place) {
      assertThat(read(PROFILE, TRAIN + config.replace("\\n", "\n")).notes())
          .contains("resources " + values + ": " + FROM + place);
    }

    @Test
    void aModelInAFolderHasTheSizeOfItsConfig(@TempDir Path model) throws IOException {
      Files.writeString(
          model.resolve("config.json"),
          "{\"hidden_size\": 768, \"num_hidden_layers\": 12, \"vocab_size\": 50257}");

      assertThat(read(PROFILE, TRAIN + "model_name: " + model + "\n").resources().time())
          .isEqualTo(Duration.ofHours(3));
    }

    @Test
    void anUnknownSizeIsAnErrorThatSaysWhatToWrite() {
      assertThat(problems(PROFILE, TRAIN + "model_name: secret-model\n"))
          .containsExactly(
              "run.yaml:1:1: resources: missing; expected a mapping with the key time; defaults.resources in"
                  + " configs/clusters/default.yaml goes by the model's size, and neither the name"
                  + " 'secret-model' nor a config.json in a folder of that name gives it; write",
              "    model_size: 7B    # or 350M, 1.5B, 8x7B");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            model_name: m-70b                | no entry of defaults.resources in configs/clusters/default.yaml is for 70B parameters; the largest is up_to 20B: write resources
            lr: 1                            | or write model_size: defaults.resources in configs/clusters/default.yaml goes by it
            sweep: {model_name: [m-1b, m-7b]}| defaults.resources in configs/clusters/default.yaml goes by the model's size, which this sweep varies: write resources for the largest model
            """)
    void resourcesStayMissingIfNoEntryFits(String config, String advice) {
      assertThat(problems(PROFILE, TRAIN + config + "\n"))
          .containsExactly(
              "run.yaml:1:1: resources: missing; expected a mapping with the key time; " + advice);
    }

    @Test
    void aRunThatDoesNotTrainGetsNoEntryForTraining() {
      assertThat(problems(PROFILE, "backend: lm_eval\nmodel_name: m-7b\n"))
          .containsExactly(
              "run.yaml:1:1: resources: missing; expected a mapping with the key time; no entry of defaults.resources in"
                  + " configs/clusters/default.yaml is for a run that does not train: write resources");
    }

    @Test
    void withoutEntriesTheErrorNamesThem() {
      assertThat(problems(STORAGE, TRAIN + "model_name: m-7b\nresources: {nodes: 2}\n"))
          .containsExactly(
              "run.yaml:4:12: resources.time: missing; write a time limit, such as time: 2h; or write"
                  + " defaults.resources in configs/clusters/default.yaml");
    }

    @Test
    void whatTheUserWritesWins() {
      RunConfig config =
          read(PROFILE, "lr: 1\nmodel_name: m-7b\n", "resources.time=6h", "resources.nodes=2");

      assertThat(config.resources().time()).isEqualTo(Duration.ofHours(6));
      assertThat(config.resources().nodes()).isEqualTo(2);
      assertThat(config.notes())
          .contains(
              "resources gpus_per_node 4: "
                  + FROM
                  + "resources[2], up_to 9B; m-7b has 7B parameters");
    }

    @Test
    void noGpusMeansNoTypeOfGpu() {
      RunConfig config = read(PROFILE, TRAIN + "model_name: m-1b\nresources: {gpus_per_node: 0}\n");

      assertThat(config.resources().gpuType()).isEmpty();
      assertThat(config.notes()).first().asString().startsWith("resources memory 64G, time 3h: ");
    }

    /** Otherwise it would train without GPUs, because that is the key's default. */
    @Test
    void aTrainingRunOfUnknownSizeIsAskedForItsGpus() {
      assertThat(problems(PROFILE, "lr: 1\nmodel_name: m\nresources: {time: 1h}\n"))
          .first()
          .asString()
          .startsWith(
              "run.yaml:3:12: resources.gpus_per_node: missing; expected a whole number from 0 to"
                  + " 64; defaults.resources in configs/clusters/default.yaml goes by the model's"
                  + " size, and neither the name 'm' nor");
      assertThat(
              read(PROFILE, "lr: 1\nmodel_name: m\nresources: {time: 1h, gpus_per_node: 2}\n")
                  .notes())
          .hasSize(2);
    }
  }

  @Nested
  class Strategy {
    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            model_name: m-7b                                          | fsdp  | true
            model_name: m-13b                                         | fsdp  | true
            model_name: m-1b                                          | ddp   | false
            model_name: m-7b\\nstrategy: zero3                         | zero3 | false
            model_name: m-7b\\nresources: {gpus_per_node: 1}           | ddp   | false
            model_name: m-7b\\nbackend: hf                             | ddp   | false
            model_name: m-7b\\nrun: x                                  | ddp   | false
            model_name: m-7b\\noptions: {deepspeed: x}                 | ddp   | false
            """)
    void comesWithTheResourcesIfTheRunnerCanSpreadTheModel(
        String config, String strategy, boolean noted) {
      RunConfig read = read(PROFILE, "lr: 1\n" + config.replace("\\n", "\n"));

      assertThat(read.training().strategy()).isEqualTo(strategy);
      assertThat(read.notes().stream().anyMatch(note -> note.startsWith("strategy")))
          .isEqualTo(noted);
    }
  }

  @Nested
  class Profile {
    @Test
    void isTheOneThatTheUserOrTheConfigNames() {
      ConfigFolder folder =
          folder(STORAGE, "lr: 1\nrun: x\ncluster: mine\n")
              .with("configs/clusters/mine.yaml", STORAGE + "defaults: {resources: [{time: 2h}]}\n")
              .with(
                  "configs/clusters/other.yaml", STORAGE + "defaults: {resources: [{time: 3h}]}\n");

      RunConfig mine = run(folder, Optional.empty());
      RunConfig other = run(folder, Optional.of("other"));

      assertThat(mine.resources().time()).isEqualTo(Duration.ofHours(2));
      assertThat(other.resources().time()).isEqualTo(Duration.ofHours(3));
      assertThat(other.notes())
          .contains("resources time 3h: from configs/clusters/other.yaml: defaults.resources[0]");
    }

    private static RunConfig run(ConfigFolder folder, Optional<String> typed) {
      return folder
          .reader()
          .run("run.yaml", List.of(), FromRuns.NONE, Optional.empty(), typed, "default");
    }

    @Test
    void thatDoesNotExistIsReportedWithTheKeyThatNamesIt() {
      assertThat(problems(STORAGE, "lr: 1\nrun: x\ncluster: none\n"))
          .singleElement(InstanceOfAssertFactories.STRING)
          .startsWith(
              "run.yaml:3:10: cluster: no cluster profile named 'none': there is no"
                  + " configs/clusters/none.yaml here, in ");
      assertThat(problems(STORAGE, "lr: 1\nrun: x\ncluster: [1]\n"))
          .contains(
              "run.yaml:3:10: cluster: expected a name of letters, digits, '.', '_' and '-', got a list: write cluster: 1");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            {stage: cost}                                | defaults.stage: 'cost' is taken by files beside the runs; choose another name
            {bakend: hf}                                 | defaults.bakend: unknown key (did you mean 'backend'?)
            {resources: [{nodes: 1}]}                    | defaults.resources[0].time: missing; expected a time limit
            {resources: [{time: 1h, frobnicate: 1}]}     | defaults.resources[0].frobnicate: unknown key
            {resources: [{time: 1h, gpu_type: h100}]}    | defaults.resources[0].gpu_type: names a GPU, but gpus_per_node is 0
            {resources: [{time: 1h, exclude: 'bad,n4'}]}  | defaults.resources[0].exclude: 'bad' means every node that is known to be bad, and no other name beside it: write bad, or the names
            {resources: [{time: 1h, nodes: 2, ntasks: 8, gpus_per_task: 1, gpus_per_node: 3}]} | defaults.resources[0].gpus_per_task: asks for 8 GPUs with 8 processes, but gpus_per_node gives 6: change one of them
            {resources: [{time: 1h, nodes: 2, gpus_per_task: 2, gpus_per_node: 1}]}            | defaults.resources[0].gpus_per_task: asks for 4 GPUs with 2 processes, but gpus_per_node gives 2
            {resources: [{time: 1h, ntasks: 2, gpus_per_task: 2, gpus_per_node: 1}]}           | defaults.resources[0].gpus_per_task: asks for 4 GPUs with 2 processes, but gpus_per_node gives 2
            {resources: [{time: 1h, ntasks_per_node: 2, gpus_per_task: 1, gpus_per_node: 1}]}  | defaults.resources[0].gpus_per_task: asks for 2 GPUs with 2 processes, but gpus_per_node gives 1
            {resources: [{time: 1h}, {time: 2h}]}        | defaults.resources[1]: is never used: an entry before it fits every run; move it up
            {resources: [{time: 1h, up_to: big}]}        | defaults.resources[0].up_to: expected a parameter count such as 350M, 7B or 8x7B
            """)
    void isChecked(String defaults, String problem) {
      assertThatThrownBy(() -> read(STORAGE + "defaults: " + defaults + "\n", "run: x\n"))
          .hasMessageContaining(problem);
    }
  }
}
