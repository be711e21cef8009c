package dev.nexa.slurm.job.estimate.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.GpuCatalog.Gpu;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import java.nio.file.Path;
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
          strategy: zero2, batch_size: 2, max_length: 8192, estimate: {gradient_checkpointing: true} | does not fit: 83 of 80 GiB; fits with a loss in parts (estimate.chunked_loss: true), batch_size: 1 or strategy: zero3 over 8 GPUs
          strategy: fsdp, batch_size: 4 | may not fit: 80 of 80 GiB, too close for an estimate that can be 15 % off; fits with options.gradient_checkpointing: true, batch_size: 1 or strategy: fsdp over 32 GPUs
          strategy: fsdp, batch_size: 16, max_length: 8192 | does not fit: 992 of 80 GiB; fits with strategy: fsdp over 8 GPUs with options.gradient_checkpointing: true and batch_size: 1 or adapter: qlora with options.gradient_checkpointing: true and batch_size: 1
          adapter: qlora, batch_size: 1 | fits: 25 of 80 GiB
          """)
  void saysWhetherItFitsAndWhatWould(String keys, String sentence) {
    assertThat(memory(keys)).map(MemoryFit::sentence).contains(sentence);
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

    assertThat(run.setup().shape().orElseThrow().layers()).isEqualTo(20);
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
