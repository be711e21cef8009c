package dev.nexa.slurm.job.estimate.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.nexa.slurm.job.backend.Backends;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.GpuCatalog.Gpu;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Weights;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read off a config, and what is said of it. */
class ModelRunTest {
  private static final Gpu H100 =
      new ConfigReader(new ConfigSource(Path.of("")), Map.of()).gpus().find("h100").orElseThrow();

  private static final String TRAINING =
      """
      stage: train
      backend: axolotl
      model_name: org/Llama-3.1-8B
      dataset_path: /data/x.jsonl
      bf16: true
      resources: {gpus_per_node: 8, gpu_type: h100, time: 1h}
      """;

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          strategy: fsdp, batch_size: 1 | fits: 34 of 80 GiB
          strategy: ddp, batch_size: 1 | does not fit: 151 of 80 GiB; fits with strategy: fsdp over 8 GPUs or adapter: lora
          strategy: zero2, batch_size: 2, max_length: 8192, estimate: {gradient_checkpointing: true} | does not fit: 83 of 80 GiB; fits with a loss in parts, if the program can compute it so (estimate.chunked_loss: true), batch_size: 1 or strategy: zero3 over 8 GPUs
          strategy: fsdp, batch_size: 4 | may not fit: 80 of 80 GiB, too close for an estimate that can be 15 % off; fits with options.gradient_checkpointing: true, batch_size: 1 or strategy: fsdp over 32 GPUs
          strategy: fsdp, batch_size: 16, max_length: 8192 | does not fit: 992 of 80 GiB; fits with strategy: fsdp over 8 GPUs with options.gradient_checkpointing: true and batch_size: 1 or adapter: qlora with options.gradient_checkpointing: true and batch_size: 1
          adapter: qlora, batch_size: 1 | fits: 25 of 80 GiB
          """)
  void saysWhetherItFitsAndWhatWould(String keys, String sentence) {
    assertThat(memory(keys)).map(MemoryFit::sentence).contains(sentence);
  }

  private static final String TRL =
      """
      stage: train
      backend: hf
      dataset_path: /data/x.jsonl
      bf16: true
      batch_size: 4
      max_length: 2048
      resources: {gpus_per_node: 1, gpu_type: h100, time: 1h}
      """;

  /**
   * Measured by nvidia-smi on one H200 with torch 2.11, transformers 5.17, PEFT 0.21 and TRL 1.9.0:
   * models of Qwen2.5's shape, 4 x 2048 tokens a step. PEFT's own choice of layers for adapters was
   * q_proj and v_proj, and TRL loaded the weights in fp32.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          model_name: x/Qwen2.5-0.5B, model_size: 494M | 10.58
          model_name: x/Qwen2.5-1.5B, model_size: 1544M | 26.66
          model_name: x/Qwen2.5-1.5B, model_size: 1544M, options: {loss_type: nll} | 40.70
          model_name: x/Qwen2.5-1.5B, model_size: 1544M, adapter: lora, options: {dtype: float32, lora_target_modules: [q_proj, v_proj]} | 9.72
          model_name: x/Qwen2.5-1.5B, model_size: 1544M, options: {use_peft: true} | 9.72
          """)
  void trlTakesTheMemoryThatWasMeasured(String keys, double gib) {
    MemoryFit fit = ModelRun.of(plan(TRL + lines(keys))).orElseThrow().memory(H100).orElseThrow();

    assertThat(fit.parts().total() / (double) (1L << 30)).isCloseTo(gib, withinPercentage(10));
  }

  /** What is estimated is what trl.yaml says, from whichever file it comes. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          backend: hf, adapter: lora | [dtype: "bfloat16", lora_target_modules:, - "all-linear"] | HALF | every linear layer
          backend: acc, adapter: lora | [dtype: "bfloat16", lora_target_modules:, - "all-linear"] | HALF | every linear layer
          backend: hf, adapter: lora, options: {dtype: float32} | [dtype: "float32"] | FP32 | every linear layer
          backend: hf, adapter: lora, options: {lora_target_modules: [q_proj]} | [dtype: "bfloat16", lora_target_modules:, - "q_proj"] | HALF | every linear layer, at most
          backend: hf, options: {use_peft: true} | [use_peft: true] | FP32 | every linear layer, at most
          backend: hf, options_file: own.yaml, adapter: lora | [dtype: float32] | FP32 | every linear layer
          """)
  void theWeightsUnderAnAdapterAreLoadedAsEstimated(
      String keys, String written, Weights weights, String adapters) {
    Plan plan =
        Plans.of(
            new ConfigFolder()
                .with(
                    "run.yaml",
                    TRL.replace("backend: hf\n", "") + lines(keys) + "model_name: x/Qwen2.5-7B\n")
                .with("own.yaml", "dtype: float32\n")
                .with("configs/clusters/mine.yaml", Plans.CLUSTER));
    String file =
        Backends.builtIn(plan.backend()).orElseThrow().launch(plan).files().stream()
            .filter(one -> one.name().equals("trl.yaml"))
            .map(one -> new String(one.content(), StandardCharsets.UTF_8))
            .findFirst()
            .orElseThrow();

    ModelRun run = ModelRun.of(plan).orElseThrow();

    assertThat(file.lines().map(String::strip))
        .containsAll(List.of(written.substring(1, written.length() - 1).split(", ", -1)));
    assertThat(file).doesNotContainPattern("(?s)dtype.*dtype");
    assertThat(run.setup().weights()).isEqualTo(weights);
    assertThat(run.assumptions()).contains("adapters at " + adapters);
  }

  @Test
  void aTeacherIsReadInTheTypeThatIsWritten() {
    String config = TRL + "model_name: x/Qwen2.5-0.5B\nuse_kd: true\nteacher_model: x/Qwen2.5-7B\n";

    assertThat(weights(config)).isEqualTo(2 * 500_000_000L + 2 * 7_000_000_000L);
    assertThat(weights(config.replace("bf16: true\n", "")))
        .isEqualTo(4 * 500_000_000L + 4 * 7_000_000_000L);
  }

  private static long weights(String config) {
    return MemoryParts.of(ModelRun.of(plan(config)).orElseThrow().setup()).weights();
  }

  private static String lines(String keys) {
    return keys.replaceAll(", (?=[a-z_]+:(?![^{]*\\}))", "\n") + "\n";
  }

  /** LitGPT's table says of the first, on an A10G of 22.5 GiB: out of memory. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          google/gemma-7b         | a10g | may not fit:
          google/gemma-2-9b-it    | h100 | fits:
          Qwen/Qwen3-8B-Base      | h100 | fits:
          meta-llama/Meta-Llama-3-8B-Instruct | h100 | fits:
          Qwen/Qwen2.5-Coder-7B   | h100 | fits:
          microsoft/Phi-3-mini-4k-instruct | h100 | fits:
          org/mine-8b             | h100 | may fit:
          google/gemma-4-9b       | h100 | may fit:
          Qwen/Qwen30-8B          | h100 | may fit:
          deepseek-ai/DeepSeek-R1-Distill-Qwen-7B | h100 | may fit:
          """)
  void fitsNeverRestsOnTheShapeOfAModelOfAnotherName(String model, String gpu, String said) {
    Plan plan =
        plan(
            TRAINING
                    .replace("org/Llama-3.1-8B", model)
                    .replace("gpus_per_node: 8", "gpus_per_node: 1")
                + "adapter: lora\nbatch_size: 1\nmax_length: 512\n");

    MemoryFit fit =
        ModelRun.of(plan)
            .orElseThrow()
            .memory(
                new ConfigReader(new ConfigSource(Path.of("")), Map.of())
                    .gpus()
                    .find(gpu)
                    .orElseThrow())
            .orElseThrow();

    assertThat(fit.sentence()).startsWith(said);
    assertThat(fit.fits()).isEqualTo(said.equals("fits:") ? Optional.of(true) : Optional.empty());
  }

  /** A runner's short name is the same runner. */
  @ParameterizedTest
  @CsvSource({"axolotl, ax", "accelerate, acc"})
  void shortNamesCountTheSame(String backend, String shortName) {
    String config =
        TRL.replace("max_length: 2048\n", "").replace("hf", backend)
            + "model_name: x/Qwen2.5-7B\nuse_kd: true\nteacher_model: x/Qwen2.5-32B\n";

    assertThat(ModelRun.of(plan(config.replace(backend, shortName))))
        .isEqualTo(ModelRun.of(plan(config)));
  }

  @Test
  void aProgramOfOnesOwnIsNotCountedAsTrl() {
    ModelRun run =
        ModelRun.of(
                plan(
                    TRL.replace("hf", "accelerate")
                        + "model_name: x/Qwen2.5-7B\nentrypoint: {module: mine}\n"))
            .orElseThrow();

    assertThat(run.setup().chunkedLoss()).isFalse();
    assertThat(run.setup().recomputes()).isFalse();
    assertThat(run.assumptions()).noneMatch(one -> one.contains("TRL"));
  }

  @Test
  void activationsThatAreNotKnownMakeNothingFit() {
    assertThat(memory("strategy: fsdp")).isEmpty();
    assertThat(memory("strategy: ddp"))
        .map(MemoryFit::sentence)
        .hasValueSatisfying(said -> assertThat(said).startsWith("does not fit: at least "));
  }

  @Test
  void aTeacherOfUnknownSizeMakesNothingFit() {
    Plan plan =
        plan(
            "stage: train\nbackend: hf\nmodel_name: org/small-350M\nuse_kd: true\n"
                + "dataset_path: /data/x.jsonl\nteacher_model: org/big\nbf16: true\nbatch_size: 1\n"
                + "max_length: 512\nresources: {gpus_per_node: 1, gpu_type: h100, time: 1h}\n");

    assertThat(ModelRun.of(plan).orElseThrow().memory(H100)).isEmpty();
  }

  @Test
  void aLongSequenceIsNotSaidToFit() {
    assertThat(memory("adapter: qlora, batch_size: 1, max_length: 65536").orElseThrow().fits())
        .isNotEqualTo(Optional.of(true));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "stage: data\nbackend: shell\nrun: echo\nmodel_name: org/Llama-3.1-8B\n"
            + "resources: {gpus_per_node: 1, gpu_type: h100, time: 1h}\n",
        "stage: train\nbackend: shell\nrun: echo\n"
            + "resources: {gpus_per_node: 1, gpu_type: h100, time: 1h}\n",
        "stage: train\nbackend: shell\nrun: echo\nmodel_size: 7B\nresources: {time: 1h}\n"
      })
  void whatNamesNoModelToTrainHasNoNumbers(String config) {
    assertThat(ModelRun.of(plan(config))).isEmpty();
  }

  @Test
  void aServersModelIsSplitOverItsGpusAndHoldsOneRequest() {
    Plan plan =
        plan(
            "stage: serve\nbackend: vllm\nmodel_name: org/Llama-3.1-70B\nmax_length: 32768\n"
                + "resources: {gpus_per_node: 2, gpu_type: h100, time: 1h}\n");

    assertThat(ModelRun.of(plan).orElseThrow().memory(H100))
        .map(MemoryFit::sentence)
        .contains(
            "may not fit: 72 of 80 GiB, too close for an estimate that can be 15 % off; fits with 4"
                + " GPUs for the model (resources.gpus_per_node, resources.nodes)");
  }

  @Test
  void hoursFollowFromTokensAndTheSharesOfPublishedRuns() {
    AnalyticEstimate hours =
        ModelRun.of(
                plan(
                    TRAINING + "estimate: {tokens: 1B, gradient_checkpointing: true}\nepochs: 3\n"))
            .orElseThrow()
            .expected(H100, Mfu.PUBLISHED)
            .orElseThrow();

    // 8 x 8e9 parameters x 3e9 tokens; 4 % of attention is left out.
    double expected = 8 * 8e9 * 3e9 / 989.5e12 / 3600;
    assertThat(hours.middleGpuHours()).isCloseTo(expected / 0.29, within(0.01));
    assertThat(hours.lowGpuHours()).isCloseTo(expected / 0.54, within(0.01));
    assertThat(hours.highGpuHours()).isCloseTo(expected / 0.155, within(0.01));
    assertThat(hours.calibrated()).isFalse();
  }

  @Test
  void hoursNeedTokensAndAPrecisionWhosePeakIsKnown() {
    String tokens = "estimate: {tokens: 1B}\n";

    assertThat(ModelRun.of(plan(TRAINING)).orElseThrow().expected(H100, Mfu.PUBLISHED)).isEmpty();
    assertThat(
            ModelRun.of(plan(TRAINING.replace("bf16: true\n", "") + tokens))
                .orElseThrow()
                .expected(H100, Mfu.PUBLISHED))
        .isEmpty();
  }

  @Test
  void examplesAreCountedAsFullOnes() {
    ModelRun run =
        ModelRun.of(plan(TRAINING + "max_length: 1000\nepochs: 2\nestimate: {examples: 5K}\n"))
            .orElseThrow();

    assertThat(run.tokens()).contains(1e7);
  }

  @Test
  void whatIsToldOfTheModelReplacesTheModelAlike() {
    ModelRun run =
        ModelRun.of(
                plan(
                    TRAINING
                        + "estimate: {layers: 20, hidden_size: 1024, kv_heads: 4, vocab_size: 1000}\n"))
            .orElseThrow();

    assertThat(run.setup().model().shape().orElseThrow().layers()).isEqualTo(20);
    assertThat(run.assumptions()).noneMatch(assumption -> assumption.contains("as of"));
  }

  private static Optional<MemoryFit> memory(String keys) {
    StringBuilder config = new StringBuilder(TRAINING);
    String rest = keys;
    int section = rest.indexOf("estimate: ");
    if (section >= 0) {
      config.append(rest.substring(section)).append('\n');
      rest = rest.substring(0, section);
    }
    for (String key : rest.split(", ", -1)) {
      config.append(key.isBlank() ? "" : key + "\n");
    }
    return ModelRun.of(plan(config.toString())).orElseThrow().memory(H100);
  }

  private static Plan plan(String config) {
    return Plans.of(config, Plans.CLUSTER);
  }
}
