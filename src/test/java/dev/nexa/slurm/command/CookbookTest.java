package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The ten configs of docs/cookbook.md. Those that need no GPU also run. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class CookbookTest {
  @TempDir Path folder;

  static List<Path> configs() {
    try (Stream<Path> files = Files.list(Path.of("configs/cookbook"))) {
      return files.filter(file -> file.toString().endsWith(".yaml")).sorted().toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Test
  void thePageShowsEachConfigAsItIs() throws IOException {
    String page = Files.readString(Path.of("docs/cookbook.md"));

    assertThat(configs()).hasSize(12);
    for (Path config : configs()) {
      String text = Files.readString(config);
      assertThat(page).contains("](../" + config + ")");
      assertThat(page)
          .contains("```yaml\n" + text.substring(text.indexOf("\nstage:") + 1) + "```\n");
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("configs")
  void isEstimatedAndRendered(Path config) {
    Terminal terminal = new Terminal(folder).withSlurm();

    Screen estimate = terminal.type("estimate", config.toString());
    Screen script = terminal.type("render", config.toString());

    assertThat(estimate.exit()).as(estimate.err()).isZero();
    assertThat(estimate.out()).containsPattern("^(At most|Less than) [0-9.]+ USD: ");
    assertThat(script.exit()).as(script.err()).isZero();
    assertThat(script.out()).startsWith("#!/bin/bash\n").contains("#SBATCH --time=");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "01-command, squares.txt",
    "02-script, ''",
    "03-array, part-3.txt",
    "04-sweep, ''",
    "05-retry, answer.txt",
    "06-clean-data, ''",
    "11-many-short-tasks, square-199.txt"
  })
  void runsWithoutAGpu(String name, String output) throws IOException {
    Files.createDirectories(folder.resolve("data/raw"));
    Files.writeString(
        folder.resolve("data/raw/questions.jsonl"),
        "{\"id\": 1, \"question\": \"Why is the sky blue?\"}\n"
            + "{\"id\": 2, \"question\": \"Why  is the sky blue?\"}\n");

    List<String> words = new ArrayList<>(List.of("submit", "--local", "--wait", "--json"));
    words.add("configs/cookbook/" + name + ".yaml");
    if (name.startsWith("11-")) { // a thousand take a minute
      words.addAll(List.of("--set", "array.shards=200", "--set", "array.pack=20"));
    }
    JsonObject run = Json.parseObject(type(words.toArray(String[]::new)));

    assertThat(run.text("state")).isEqualTo("completed");
    String id = run.text("run_id");
    if (!output.isEmpty()) {
      assertThat(folder.resolve("storage/durable/datasets/" + id + "/" + output)).isNotEmptyFile();
    }
    JsonObject manifest =
        Json.parseObject(Files.readString(folder.resolve("runs/manifests/" + id + ".json")));
    switch (name) {
      case "01-command" -> assertThat(manifest.object("metrics").number("rows")).isEqualTo(1000);
      case "02-script" ->
          assertThat(Path.of(manifest.text("checkpoint")).resolve("model.json")).isNotEmptyFile();
      case "06-clean-data" ->
          assertThat(manifest.object("metrics").number("rows_out")).isEqualTo(1);
      default -> assertThat(manifest.text("status")).isEqualTo("completed");
    }
  }

  private String type(String... command) {
    Map<String, String> environment = new TreeMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", folder.toString());
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exit =
        Main.run(command, environment, new PrintWriter(out, true), new PrintWriter(err, true));
    assertThat(exit).as(err.toString()).isZero();
    return out.toString();
  }
}
