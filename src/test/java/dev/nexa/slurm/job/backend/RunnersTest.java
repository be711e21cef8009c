package dev.nexa.slurm.job.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The public runners: what they are given, held against what their releases read. */
class RunnersTest {
  private static final String CLUSTER =
      "gpu_type: h100\nstorage: {scratch: /scratch, durable: /durable, shared: /shared}\n";
  private static final String SEEDS =
      """
      stage: train
      model_name: mistralai/mistral-7b
      dataset_path: ${durable}/datasets/science.parquet
      lr: 2e-5
      batch_size: 1
      grad_accumulation: 8
      epochs: 2
      save_steps: 500
      eval_steps: 500
      max_length: 4096
      seed: 7
      """;
  private static final String ONE = "resources: {gpus_per_node: 4, time: 1h}\n";
  private static final String TWO = "resources: {nodes: 2, gpus_per_node: 4, time: 1h}\n";
  private static final String KD = "use_kd: true\nkd_temperature: 1.5\n";
  private static final String LORA =
      "adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_dropout: 0.1\n";

  /** A run of one of them, as golden files are named. */
  record Case(String name, String config) {
    Launch launch() {
      Plan plan = RunnersTest.plan(config);
      return Backends.builtIn(plan.backend()).orElseThrow().launch(plan);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static final List<Case> CASES =
      List.of(
          new Case("hf", SEEDS + "backend: hf\nfp16: true\n" + TWO),
          new Case("hf-lora", SEEDS + "backend: hf\nbf16: true\n" + LORA + ONE),
          new Case("hf-qlora", SEEDS + "backend: hf\nadapter: qlora\n" + ONE),
          new Case(
              "hf-evaluated", SEEDS + "backend: hf\noptions: {dataset_test_split: train}\n" + ONE),
          new Case("hf-distilled", SEEDS + "backend: hf\nteacher_model: big\n" + KD + ONE),
          new Case("hf-on-cpu", SEEDS + "backend: hf\nresources: {time: 1h}\n"),
          new Case("axolotl", SEEDS + "backend: axolotl\nbf16: true\n" + TWO),
          new Case("axolotl-lora", SEEDS + "backend: ax\n" + LORA + ONE),
          new Case(
              "axolotl-qlora-fsdp", SEEDS + "backend: ax\nadapter: qlora\nstrategy: fsdp\n" + ONE),
          new Case("axolotl-zero1", SEEDS + "backend: ax\nstrategy: zero1\n" + ONE),
          new Case("axolotl-zero2", SEEDS + "backend: ax\nstrategy: zero2\n" + ONE),
          new Case("axolotl-zero3", SEEDS + "backend: ax\nstrategy: zero3\noffload: cpu\n" + TWO),
          new Case("axolotl-distilled", SEEDS + "backend: ax\nkd_lambda: 0.3\n" + KD + ONE),
          new Case("axolotl-one-process", SEEDS + "backend: ax\nresources: {time: 1h}\n"),
          new Case("accelerate-ddp", SEEDS + "backend: acc\nbf16: true\n" + ONE),
          new Case(
              "accelerate-seeds-keys",
              SEEDS
                  + "backend: acc\nmixed_precision: bf16\nfsdp: full_shard\n"
                  + "fsdp_offload_params: true\nfsdp_state_dict_type: FULL_STATE_DICT\n"
                  + TWO),
          new Case("accelerate-shard-grad-op", SEEDS + "backend: acc\nfsdp: shard_grad_op\n" + ONE),
          new Case("accelerate-zero2", SEEDS + "backend: acc\nstrategy: zero2\n" + ONE),
          new Case(
              "accelerate-zero3-nvme",
              SEEDS + "backend: acc\nstrategy: zero3\noffload: nvme\n" + TWO),
          new Case(
              "accelerate-own-program",
              SEEDS + "backend: acc\nentrypoint: {module: nexa_train.launcher}\n" + TWO),
          new Case(
              "vllm",
              "stage: generate\nbackend: vllm\nmodel_name: big\nmax_length: 8192\nseed: 1\n"
                  + "options: {input_file: \"${durable}/in/${task}.jsonl\", output_file: o.jsonl,"
                  + " enable_lora: true, gpu_memory_utilization: 0.9, enforce_eager: false}\n"
                  + ONE),
          new Case(
              "vllm-serve",
              "stage: serve\nbackend: vllm\nmodel_name: \"${durable}/m\"\nmax_length: 8192\n"
                  + "lora_adapters: {a: \"${durable}/a\", b: /b}\noptions: {max_lora_rank: 32}\n"
                  + ONE),
          new Case(
              "vllm-serve-nodes",
              "stage: serve\nbackend: vllm\nmodel_name: big\n"
                  + "options: {served_model_name: [x, y], host: 10.0.0.1}\n"
                  + TWO),
          new Case(
              "vllm-serve-copies",
              "stage: serve\nbackend: vllm\nmodel_name: m\noptions: {data-parallel-size: 2}\n"
                  + ONE),
          new Case(
              "lm-eval",
              "stage: eval\nbackend: lm_eval\nmodel_name: m\nbf16: true\noptions: {tasks: [a, b]}\n"
                  + "resources: {gpus_per_node: 1, time: 1h}\n"),
          new Case(
              "lm-eval-copies",
              "stage: eval\nbackend: lm_eval\nmodel_name: m\noptions: {tasks: [a], limit: 10}\n"
                  + ONE));

  @ParameterizedTest
  @FieldSource("CASES")
  void isGivenThisCommandAndTheseFiles(Case run) {
    Launch launch = run.launch();
    StringBuilder text = new StringBuilder(launch.template()).append("\n\n");
    launch.command().forEach(word -> text.append(word).append('\n'));
    for (RunnerFile file : launch.files()) {
      text.append("\n--- ").append(file.name()).append('\n');
      if (file.name().endsWith(".py")) {
        continue; // A program of ours, the same in every run.
      }
      text.append(new String(file.content(), StandardCharsets.UTF_8));
    }
    Golden.check("runners/" + run.name() + ".txt", text.toString());
  }

  /** Most of them drop what they don't know in silence; a list made of their release does not. */
  @ParameterizedTest
  @FieldSource("CASES")
  void everyKeyThatWeWriteIsReadByTheRelease(Case run) {
    Plan plan = plan(run.config());
    for (RunnerFile file : run.launch().files()) {
      if (file.name().endsWith(".yaml")) {
        List<Problem> problems = new ArrayList<>();
        JsonObject content = yaml(new String(file.content(), StandardCharsets.UTF_8));
        assertThat(content.isEmpty()).isFalse();
        list(file.name(), plan).check(content, file.name(), plan.written(), problems);
        assertThat(problems).isEmpty();
      }
    }
  }

  private static RunnerOptions list(String file, Plan plan) {
    return RunnerOptions.of(
        switch (file) {
          case "trl.yaml" -> plan.training().flag("use_kd") ? "trl-distill" : "trl-sft";
          case "axolotl.yaml" -> "axolotl";
          case "accelerate.yaml" -> "accelerate";
          case "lm_eval.yaml" -> "lm-eval-config";
          default -> throw new IllegalArgumentException(file);
        });
  }

  /** Flags up to the next program's: a launcher's own. */
  @ParameterizedTest
  @FieldSource("CASES")
  void everyFlagThatWeWriteIsTakenByTheRelease(Case run) {
    RunnerOptions flags = RunnerOptions.of("torchrun");
    for (String word : run.launch().command()) {
      flags = next(word, flags);
      if (word.startsWith("--") && word.length() > 2) {
        String name = word.substring(2).split("=", 2)[0];
        // Axolotl takes the keys of its file as flags, with dashes.
        assertThat(
                isOfTheScript(word, flags)
                    || flags.knows(name)
                    || flags.knows(name.replace('-', '_')))
            .as("%s of %s", word, flags.release())
            .isTrue();
      }
    }
  }

  /** A flag of the parser around the listed one. */
  private static boolean isOfTheScript(String word, RunnerOptions flags) {
    return (flags.release().startsWith("trl ") && word.equals("--config"))
        || (flags.release().startsWith("axolotl ") && word.equals("--launcher"));
  }

  /** Each program's word begins its own flags. */
  private static RunnerOptions next(String word, RunnerOptions before) {
    return switch (word) {
      case "torchrun" -> RunnerOptions.of("torchrun-1.13");
      case "sft" -> RunnerOptions.of("trl-sft");
      case "distillation" -> RunnerOptions.of("trl-distill");
      case "nexa_train.launcher" -> RunnerOptions.of("trl-sft");
      case "accelerate" -> RunnerOptions.of("accelerate-launch");
      case "axolotl" -> RunnerOptions.of("axolotl");
      case "--" -> RunnerOptions.of("torchrun-1.13");
      case "vllm", "run-batch" -> RunnerOptions.of("vllm-run-batch");
      case "serve" -> RunnerOptions.of("vllm-serve");
      case "run" -> RunnerOptions.of("lm-eval");
      default -> before;
    };
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          hf | options: {learning_rat: 1} | options.learning_rat: trl 1.13.0 has no option 'learning_rat' (did you mean 'learning_rate'?)
          ax | options: {datasets: [{pth: x}]} | options.datasets.pth: axolotl 0.18.0 (git 2f5cb9da62a0) has no option 'datasets.pth' (did you mean 'datasets.path'?)
          acc | options: {accelerate: {fsdp_config: {fsdp_offload: true}}} | has no option 'fsdp_config.fsdp_offload'
          hf | strategy: zero3 | strategy: hf keeps the whole model on each rank; write backend: accelerate
          hf | model_size: 20B | backend: hf trains models of up to 15B, this one has 20B parameters
          hf | model_size: 8x7B | backend: hf trains models of up to 15B, this one has 56B parameters
          hf | model_name: acme/own-model | model_size: missing: hf trains models of up to 15B, and neither the name 'acme/own-model'
          hf | model_name: deepseek-ai/DeepSeek-V3 | backend: hf trains models of up to 15B, this one has 671B parameters
          ax | {use_kd: true, kd_lambda: 1.5} | kd_lambda: is the weight of the teacher's loss beside the data's own; expected a number from 0 to 1, got 1.5
          ax | {use_kd: true, kd_temperature: 0} | kd_temperature: expected a number above 0, got 0
          ax | model_size: 70B | adapter: models of over 60B are trained with adapters only, this one has 70B
          """)
  void isRefusedWithTheReason(String backend, String line, String message) {
    String seeds =
        line.startsWith("model_name") ? SEEDS.replaceFirst("model_name:.*\n", "") : SEEDS;
    String keys = line.startsWith("{") ? line.replaceAll("[{}]", "").replace(", ", "\n") : line;
    String config = seeds + "backend: " + backend + "\n" + keys + "\n" + ONE;

    assertThatThrownBy(() -> new Case("", config).launch()).hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"20, false", "21, true"})
  void vllmIsToldHowManyLogProbabilitiesItReturnsIfItsDefaultIsLess(int top, boolean told) {
    String config =
        "stage: generate\nbackend: vllm\nmodel_name: big\n"
            + "data: {generate: {requests: [/conversations], logprobs: "
            + top
            + "}}\n"
            + ONE;

    Launch launch = new Case("", config).launch();

    assertThat(String.join(" ", launch.teacher()).contains("--max-logprobs " + top))
        .isEqualTo(told);
    RunnerOptions flags = RunnerOptions.of("vllm-serve");
    assertThat(flags.flag("max_logprobs")).isEqualTo("--max-logprobs");
    assertThat(new String(launch.files().get(0).content(), StandardCharsets.UTF_8))
        .contains("\"concurrency\": 16");
  }

  @Test
  void aSizeIsReadOffTheModelsName() {
    assertThatThrownBy(
            () ->
                new Case(
                        "",
                        SEEDS.replace("mistral-7b", "Llama-3.1-70B-Instruct")
                            + "backend: hf\n"
                            + ONE)
                    .launch())
        .hasMessageContaining("this one has 70B parameters (T4");
    assertThat(
            new Case("", SEEDS + "backend: ax\nmodel_size: 70B\nadapter: qlora\n" + ONE).launch())
        .isNotNull();
  }

  /** The name that runs decides: model_name, or what options put in its place. */
  @ParameterizedTest
  @CsvSource({
    "mistral-7b, '', 7B, true",
    "Llama-3.1-70B, '', 7B, false",
    "own, 'options: {model_name_or_path: meta/Llama-3.1-70B}', 7B, false",
    "mistral-7b, 'options: {model_name_or_path: meta/Llama-3.1-70B}', 7B, false",
    "Mixtral-8x7B, '', 46.7B, false",
    "own, '', 7B, true"
  })
  void aFalseModelSizePassesNoRule(String name, String options, String size, boolean passes) {
    String config =
        SEEDS.replace("mistral-7b", name)
            + "backend: hf\nmodel_size: "
            + size
            + "\n"
            + options
            + "\n"
            + ONE;

    if (passes) {
      assertThat(new Case("", config).launch()).isNotNull();
      assertThat(plan(config).notes()).isEmpty();
      return;
    }
    assertThatThrownBy(() -> new Case("", config).launch())
        .hasMessageContaining("backend: hf trains models of up to 15B");
    if (size.equals("7B")) {
      assertThat(plan(config).notes())
          .anyMatch(note -> note.startsWith("model_size is 7B, but") && note.contains("has 70B"));
    }
  }

  @Test
  void whatNothingReadsIsNoted() {
    assertThat(launched(SEEDS + "backend: hf\n" + ONE).notes())
        .containsExactly(
            "eval_steps: nothing is evaluated, because the config names no data for it; write"
                + " options.dataset_test_split, such as test");
    assertThat(launched(SEEDS + "backend: hf\noptions: {eval_strategy: steps}\n" + ONE).notes())
        .isEmpty();
    assertThat(launched(SEEDS + "backend: ax\nteacher_model: t\n" + KD + ONE).notes())
        .containsExactly(
            "teacher_model: axolotl loads no teacher; it reads the teacher's log-probabilities from"
                + " the dataset's column `logprobs`");
    assertThat(
            launched(
                    "stage: train\nbackend: acc\nstrategy: fsdp\nbf16: true\nlr: 1\n"
                        + "entrypoint: {module: m, config: false}\n"
                        + ONE)
                .notes())
        .containsExactly(
            "the program does not get lr, because entrypoint.config is false: write them into"
                + " entrypoint.args, or write config: true, which gives it --config FILE");
  }

  private static Launch launched(String config) {
    Plan plan = plan(config);
    return Backends.launch(plan, Backends.builtIn(plan.backend()).orElseThrow());
  }

  /** On two nodes with four GPUs each, unless it says otherwise. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          options: {tensor_parallel_size: 3} | options.tensor_parallel_size: 3 does not divide the 4 GPUs of a node
          options: {tensor-parallel-size: 8, pipeline_parallel_size: 1} | 8 does not divide the 4 GPUs of a node
          options: {tensor_parallel_size: 2} | options.tensor_parallel_size: tensor 2 x pipeline 2 is not the 8 GPUs that the job asks for
          options: {pipeline_parallel_size: 3} | options.pipeline_parallel_size: tensor 4 x pipeline 3 is not the 8 GPUs
          options: {data_parallel_size: 2} | options.data_parallel_size: needs nodes: 1
          options: {api_key: sk-1} | options.api_key: others could read it there
          env: {VLLM_API_KEY: sk-1} | env.VLLM_API_KEY: looks like a secret, by its name
          options: {port: 8000} | options.port: the job script sets it; leave it out
          options: {ssl-keyfile: /k} | options.ssl_keyfile: `serve` asks over plain HTTP
          options: {max_modellen: 1} | vllm 0.24.0 (git ee0da84ab9e0) has no option 'max_modellen' (did you mean
          array: {shards: 2} | array: a server is one task
          """)
  void aServerIsRefusedWithTheReason(String line, String message) {
    String config = "stage: serve\nbackend: vllm\nmodel_name: m\n" + line + "\n" + TWO;

    assertThatThrownBy(() -> new Case("", config).launch()).hasMessageContaining(message);
  }

  @Test
  void whatTrainsNothingCannotDistil() {
    for (String backend : List.of("vllm", "lm_eval")) {
      String config = "stage: eval\nbackend: " + backend + "\nuse_kd: true\nmodel_name: m\n" + ONE;

      assertThatThrownBy(() -> new Case("", config).launch())
          .hasMessageContaining("run.yaml:3:9: use_kd: backend " + backend + " can't distil");
    }
  }

  @Test
  void whatAServerIsCalledIsToldToWhoWaitsForIt() {
    String config = "stage: serve\nbackend: vllm\nmodel_name: m\n" + ONE;

    assertThat(new Case("", config).launch().servedModel()).contains("m");
    assertThat(
            new Case("", config + "options: {served_model_name: [x, y]}\n").launch().servedModel())
        .contains("x");
    assertThat(new Case("", SEEDS + "backend: hf\n" + ONE).launch().serves()).isFalse();
  }

  @Test
  void whatIsMissingIsToldInOneGo() {
    assertThatThrownBy(() -> new Case("", "stage: a\nbackend: vllm\n" + TWO).launch())
        .hasMessageContaining("options.input_file: missing")
        .hasMessageContaining("options.output_file: missing")
        .hasMessageContaining("model_name: missing; backend vllm needs it")
        .hasMessageContaining("resources.nodes: run-batch works on one node");
  }

  private static Plan plan(String config) {
    return Plans.of(
        new ConfigFolder().with("run.yaml", config).with("configs/clusters/mine.yaml", CLUSTER));
  }

  /** A plan whose keys stand somewhere. */
  static Plan anyPlan() {
    return plan(SEEDS + "backend: hf\n" + ONE);
  }

  static JsonObject yaml(String text) {
    return (JsonObject) json(new Load(LoadSettings.builder().build()).loadFromString(text));
  }

  private static Object json(Object value) {
    if (value instanceof Map<?, ?> map) {
      JsonObject object = new JsonObject();
      map.forEach((key, member) -> object.with((String) key, json(member)));
      return object;
    }
    return value instanceof List<?> list
        ? list.stream().map(RunnersTest::json).collect(Collectors.toList())
        : value;
  }
}
