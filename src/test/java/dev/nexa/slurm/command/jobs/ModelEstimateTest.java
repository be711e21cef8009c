package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.math.BigDecimal;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What estimate and submit say of a run's model. */
class ModelEstimateTest {
  private static final String SENTENCE =
      "does not fit: 151 of 80 GiB; fits with strategy: fsdp over 8 GPUs or adapter: lora";

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    terminal =
        new Terminal(folder)
            .file("run.yaml", config("estimate: {tokens: 1B}\nbatch_size: 1"))
            .file("small.yaml", config("adapter: qlora\nbatch_size: 1"))
            .file(
                "data.yaml",
                "stage: data\nbackend: shell\nrun: echo\nresources: {time: 10m, memory: 1G}\n")
            .withSlurm();
  }

  @Test
  void estimateTellsTimeAndMemoryAndWhatItAssumes() {
    Screen screen = terminal.type("estimate", "run.yaml");

    assertThat(screen.out())
        .contains("From FLOPs: 25.0 to 86.9 GPU-hours, around 46.5: 4.80e+19 FLOPs")
        .contains("fewer than 5 of yours tell")
        .contains("Memory of a GPU: " + SENTENCE + " (weights 14.9, gradients 14.9")
        .contains("Assumed: layers and widths as of llama-3.1-8b");
  }

  @Test
  void theDocumentHasBoth() {
    JsonObject json = terminal.type("estimate", "run.yaml", "--json").json();

    JsonObject memory = json.object("memory");
    assertThat(memory.flag("fits")).isFalse();
    assertThat(memory.text("sentence")).isEqualTo(SENTENCE);
    assertThat(memory.texts("remedies"))
        .containsExactly("strategy: fsdp over 8 GPUs", "adapter: lora");
    JsonObject parts = memory.object("parts");
    long sum = 0;
    for (String part : parts.members().keySet()) {
      sum += parts.number(part);
    }
    assertThat(sum).isEqualTo(memory.number("per_gpu_bytes"));
    JsonObject hours = json.object("analytic").object("gpu_hours");
    assertThat(new BigDecimal(hours.text("low"))).isLessThan(new BigDecimal(hours.text("high")));
  }

  @Test
  void submitSpeaksUpOnlyWhereItDoesNotFit() {
    Screen large = terminal.type("submit", "run.yaml");
    Screen small = terminal.type("submit", "small.yaml");

    assertThat(large.out() + large.err()).contains("note: memory of a GPU: " + SENTENCE);
    assertThat(small.exit()).isZero();
    assertThat(small.out() + small.err()).doesNotContain("memory of a GPU");
  }

  @Test
  void aLimitThatIsTooShortIsToldWithOneThatWouldDo() {
    String told =
        "ote: the run will probably not finish within 10 minutes: it takes 5 hours 49 minutes to 10"
            + " hours 52 minutes; ask for at least 11 hours\n";
    JsonObject json = terminal.type("estimate", "run.yaml", "--json").json();
    terminal.file("long.yaml", config("estimate: {tokens: 1B}").replace("10m", "11h"));
    terminal.file("chain.yaml", config("estimate: {tokens: 1B}\nchain: 2"));

    assertThat(terminal.type("estimate", "run.yaml").out())
        .contains("N" + told.replace("\n", ".\n"));
    assertThat(terminal.type("submit", "run.yaml").out()).contains("n" + told);
    assertThat(json.object("expected").object("limit_too_short").number("ask_seconds"))
        .isEqualTo(11 * 3600);
    assertThat(terminal.type("estimate", "long.yaml").out()).doesNotContain("not finish");
    assertThat(terminal.type("estimate", "chain.yaml").out())
        .contains("within 2 links of 10 minutes")
        .contains("ask for at least 5 hours 30 minutes each");
  }

  @Test
  void aRefusalSaysFirstWhatIsWrongWithIt() {
    terminal.file("configs/policy.yaml", "approval_over: {amount: 0.01, currency: USD}\n");

    Screen screen = terminal.type("submit", "run.yaml");

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err())
        .contains("note: memory of a GPU: " + SENTENCE)
        .contains("note: the run will probably not finish within 10 minutes");
  }

  @Test
  void whatHasNoModelHasNeither() {
    JsonObject json = terminal.type("estimate", "data.yaml", "--json").json();
    Screen screen = terminal.type("estimate", "data.yaml");

    assertThat(json.members()).containsEntry("memory", null).containsEntry("analytic", null);
    assertThat(screen.out()).doesNotContain("From FLOPs").doesNotContain("Memory of a GPU");
  }

  private static String config(String more) {
    return """
        stage: train
        backend: axolotl
        model_name: org/Llama-3.1-8B
        dataset_path: /data/x.jsonl
        bf16: true
        resources: {gpus_per_node: 8, gpu_type: h100, time: 10m}
        """
        + more
        + "\n";
  }
}
