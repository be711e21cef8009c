package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The job of an evaluation notes the files of the model that it reads, before its command runs. */
class JudgedModelsTest {
  @TempDir Path workspace;

  private void write(String name, String text) throws IOException {
    Files.writeString(workspace.resolve(name), text);
  }

  private Map<Path, Set<String>> modelsRead(String run) {
    return new Workspace(workspace, DurableFiles.onDisk()).run(new RunId(run)).modelsRead();
  }

  @Test
  void aStageNotesTheCheckpointOfAnEarlierOneAndTheModelThatItNames() throws IOException {
    Files.createDirectories(workspace.resolve(".nexa"));
    write(
        "train.yaml",
        """
        stage: train
        backend: shell
        run: |
          mkdir -p "$NEXA_CHECKPOINTS/a b"
          echo weights >"$NEXA_CHECKPOINTS/model.safetensors"
          echo words >"$NEXA_CHECKPOINTS/a b/vocab.txt"
        resources: {time: 5m, memory: 100M}
        """);
    write(
        "answer.yaml",
        """
        stage: generate
        backend: shell
        env: {MODEL: "${stages.train.checkpoint}"}
        run: |
          test -s "$MODEL/model.safetensors"
          echo later >"$MODEL/model.safetensors"
        resources: {time: 5m, memory: 100M}
        """);
    write(
        "p.yaml",
        "stages:\n  train: {config: train.yaml}\n  answer: {config: answer.yaml, after: [train]}\n");
    Person person = new Person(workspace);
    String said =
        person.says("pipeline", "run", workspace + "/p.yaml", "--local", "--wait", "--json");
    Map<String, String> runs = new TreeMap<>();
    Json.parseObject(said)
        .objects("stages")
        .forEach(stage -> runs.put(stage.text("stage"), stage.text("run_id")));
    Map<Path, Set<String>> read = modelsRead(runs.get("answer"));
    Path model =
        read.keySet().stream()
            .filter(it -> it.endsWith("model.safetensors"))
            .findFirst()
            .orElseThrow();
    assertThat(read)
        .containsEntry(model, Set.of(Sha256.of("weights\n")))
        .containsEntry(
            model.resolveSibling("a b").resolve("vocab.txt"), Set.of(Sha256.of("words\n")));
    assertThat(modelsRead(runs.get("train"))).isEmpty();

    write(
        "again.yaml",
        "stage: eval\nbackend: shell\nmodel_name: "
            + model.getParent()
            + "\nrun: 'true'\nresources: {time: 5m, memory: 100M}\n");
    said = person.says("submit", workspace + "/again.yaml", "--local", "--wait", "--json");
    assertThat(modelsRead(Json.parseObject(said).text("run_id")))
        .containsEntry(model, Set.of(Sha256.of("later\n")));
  }
}
