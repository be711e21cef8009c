package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FromRunTest {
  private static final String SERVER =
      """
      stage: serve
      backend: vllm
      model_name: base
      lora_adapters: {tuned: "${checkpoint}/adapter"}
      options: {chat_template: "${checkpoint}/chat.jinja", load_format: auto}
      env: {LEFT: "${checkpoint}"}
      resources: {nodes: 2, time: 1h}
      """;

  @TempDir Path folder;

  @Test
  void itsCheckpointIsWhereTheConfigNamesIt() throws Exception {
    RunConfig config = read(SERVER, Optional.of(from(List.of("n1", "n2", "n3"))));

    assertThat(config.serving().loraAdapters()).isEqualTo(Map.of("tuned", "/durable/c/adapter"));
    assertThat(config.options().text("chat_template")).isEqualTo("/durable/c/chat.jinja");
    assertThat(config.env()).containsEntry("LEFT", "${checkpoint}");
    assertThat(config.tags()).containsExactly("from:train_20251101_143200");
    assertThat(config.resources().option(ResourceOption.NODELIST)).contains("n1,n2");
    assertThat(
            read(SERVER, Optional.of(from(List.of()))).resources().option(ResourceOption.NODELIST))
        .isEmpty();
  }

  @Test
  void aConfigThatNamesNoneIsNoConfigForIt() {
    assertThatThrownBy(
            () -> read(SERVER.replace("${checkpoint}", "/x"), Optional.of(from(List.of()))))
        .hasMessageContaining(
            "--from train_20251101_143200, but ${checkpoint} stands nowhere in model_name");
  }

  @Test
  void withoutARunThereIsNoCheckpoint() {
    assertThatThrownBy(() -> read(SERVER, Optional.empty()))
        .hasMessageContaining("run.yaml:4:")
        .hasMessageContaining("${checkpoint} is a finished run's: name that run with --from RUN");
  }

  private static FromRun from(List<String> nodes) {
    return new FromRun("train_20251101_143200", "/durable/c", nodes);
  }

  private RunConfig read(String text, Optional<FromRun> from) throws Exception {
    Path file = java.nio.file.Files.writeString(folder.resolve("run.yaml"), text);
    return new ConfigReader(new ConfigSource(folder), Map.of())
        .run(file.toString(), List.of(), from);
  }
}
