package dev.nexa.slurm.job.config.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FromRunsTest {
  private static final String UNNAMED = FromRuns.UNNAMED;
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
  void checkpointIsShortForAReference() throws Exception {
    RunConfig config = read(SERVER, from(List.of("n1", "n2", "n3"), UNNAMED));

    assertThat(config.model().serving().loraAdapters())
        .isEqualTo(Map.of("tuned", "${stages.from.checkpoint}/adapter"));
    assertThat(config.work().options().text("chat_template"))
        .isEqualTo("${stages.from.checkpoint}/chat.jinja");
    assertThat(config.environment().env()).containsEntry("LEFT", "${checkpoint}");
    assertThat(config.labels().tags()).containsExactly("from:train_20251101_143200");
    assertThat(config.resources().option(ResourceOption.NODELIST)).contains("n1,n2");
    assertThat(read(SERVER, from(List.of(), UNNAMED)).resources().option(ResourceOption.NODELIST))
        .isEmpty();
  }

  @Test
  void namedRunsAreReferredToAsStages() throws Exception {
    String config =
        """
        stage: eval
        backend: shell
        run: cat "${stages.prepare.output}/x" "${stages.train.a.checkpoint}"
        resources: {time: 1m}
        """;

    RunConfig read = read(config, from(List.of(), "prepare", "train.a"));

    assertThat(read.labels().tags())
        .containsExactly("from:train_20251101_143200", "from:train_20251101_143200");
    assertThatThrownBy(() -> read(config, from(List.of(), "prepare")))
        .hasMessageContaining("run.yaml:3:")
        .hasMessageContaining(
            "${stages.train.a.checkpoint}: no run has the name 'train.a'; add --from train.a=RUN");
    assertThatThrownBy(() -> read(config, from(List.of(), "prepare", "train.b")))
        .hasMessageContaining("did you mean 'train.b'?");
    assertThatThrownBy(() -> read(config, FromRuns.NONE))
        .hasMessageContaining(
            "${stages.prepare.output}: names a stage of a pipeline; name the run that made it:"
                + " --from prepare=RUN");
  }

  @Test
  void aRunThatTheConfigDoesNotUseIsNamed() {
    assertThatThrownBy(() -> read(SERVER.replace("${checkpoint}", "/x"), from(List.of(), UNNAMED)))
        .hasMessageContaining(
            "--from train_20251101_143200, but ${checkpoint} stands nowhere in model_name");
    assertThatThrownBy(() -> read(SERVER, from(List.of(), UNNAMED, "data")))
        .hasMessageContaining(
            "--from data=train_20251101_143200, but the config has neither ${stages.data.output} nor"
                + " ${stages.data.checkpoint}");
  }

  @Test
  void withoutARunThereIsNoCheckpoint() {
    assertThatThrownBy(() -> read(SERVER, FromRuns.NONE))
        .hasMessageContaining("run.yaml:4:")
        .hasMessageContaining("${checkpoint} is an earlier run's: name that run with --from RUN");
  }

  @Test
  void theSizeOfTheModelComesFromItsCheckpoint() throws Exception {
    FromRuns from =
        new FromRuns(Map.of(UNNAMED, "train_20251101_143200"), Optional.of("7b"), List.of());
    String config = SERVER.replace("model_name: base", "model_name: ${checkpoint}");

    assertThat(read(config, from).training().text("model_size")).contains("7b");
    assertThat(read(config + "model_size: 1b\n", from).training().text("model_size"))
        .contains("1b");
    assertThat(read(SERVER, from).training().text("model_size")).isEmpty();
  }

  private static FromRuns from(List<String> nodes, String... names) {
    Map<String, String> runs = new LinkedHashMap<>();
    for (String name : names) {
      runs.put(name, "train_20251101_143200");
    }
    return new FromRuns(runs, Optional.empty(), nodes);
  }

  private RunConfig read(String text, FromRuns from) throws Exception {
    Path file = java.nio.file.Files.writeString(folder.resolve("run.yaml"), text);
    return new ConfigReader(new ConfigSource(folder), Map.of())
        .run(file.toString(), List.of(), from);
  }
}
