package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.shared.Resources;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunConfigTest {

  /** The keys of the seeds' training configs, with the types that their runner expects. */
  @Test
  void theSeedsTrainingKeysKeepTheirNames() {
    RunConfig config =
        read(
            """
            model_name: mistral-7b-instruct
            dataset_path: /mnt/datasets/science_assistant_v1.jsonl
            lr: 2e-5
            batch_size: 2
            grad_accumulation: 8
            epochs: 3
            use_kd: true
            kd_temperature: 1.5
            kd_lambda: 0.5
            save_steps: 500
            eval_steps: 250
            fp16: true
            """);

    assertThat(config.training().given())
        .containsExactly(
            Map.entry("model_name", "mistral-7b-instruct"),
            Map.entry("dataset_path", "/mnt/datasets/science_assistant_v1.jsonl"),
            Map.entry("lr", new BigDecimal("2e-5")),
            Map.entry("batch_size", 2),
            Map.entry("grad_accumulation", 8),
            Map.entry("epochs", new BigDecimal("3")),
            Map.entry("use_kd", true),
            Map.entry("kd_temperature", new BigDecimal("1.5")),
            Map.entry("kd_lambda", new BigDecimal("0.5")),
            Map.entry("save_steps", 500),
            Map.entry("eval_steps", 250),
            Map.entry("fp16", true));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "/mnt/datasets/science_v1.jsonl, science_v1",
    "/mnt/datasets/science_v1/, science_v1",
    "science.tar.gz, science.tar",
    "builtin:science, builtin:science",
    ".hidden, .hidden",
  })
  void theDatasetIsTheLastPartOfItsPath(String path, String dataset) {
    assertThat(read("dataset_path: " + path + "\n").labels().dataset()).contains(dataset);
  }

  @Test
  void theDatasetMayBeNamedByItself() {
    assertThat(read("dataset: science\ndataset_path: /a/b.jsonl\n").labels().dataset())
        .contains("science");
  }

  @Test
  void whatIsNotWrittenHasTheDocumentedDefault() {
    RunConfig config = read("");

    assertThat(config.resources())
        .isEqualTo(
            new Resources(
                1,
                1,
                0,
                Optional.empty(),
                1,
                Optional.empty(),
                Duration.ofMinutes(10),
                Map.of(),
                false));
    assertThat(config.array().shards()).isEqualTo(1);
    assertThat(config.supervision().requeues()).isZero();
    assertThat(config.title()).isEqualTo("data");
    assertThat(config.labels().tags()).isEmpty();
  }

  @Test
  void scalarsOfTheEnvironmentAreTakenAsTheyAreWritten() {
    assertThat(
            read("env: {A: 1.50, B: no, C: 010, D: 1_000, E: .nan, F: 12:30:00, G: 2025-11-01, H: 0x1F}\n")
                .environment()
                .env())
        .containsExactly(
            Map.entry("A", "1.50"),
            Map.entry("B", "no"),
            Map.entry("C", "010"),
            Map.entry("D", "1_000"),
            Map.entry("E", ".nan"),
            Map.entry("F", "12:30:00"),
            Map.entry("G", "2025-11-01"),
            Map.entry("H", "0x1F"));
  }

  @Test
  void textMayHoldWhatYamlCallsALineAndBashDoesNot() {
    assertThat(read("tags: [\"a\u2028b\"]\n").labels().tags()).containsExactly("a\u2028b");
  }

  private static RunConfig read(String lines) {
    return new ConfigFolder()
        .with(
            "run.yaml", "stage: data\nbackend: shell\nrun: echo\nresources: {time: 10m}\n" + lines)
        .run();
  }
}
