package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.records.documents.RunFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code pipeline run --reuse} after each kind of change, for each kind of stage. */
@Tag("long")
class PipelineReuseTest {
  private static final List<String> STAGES = List.of("prepare", "filter", "train", "each", "use");

  @TempDir Path workspace;
  private Person person;

  /** What happens to a file, and what is said of it. */
  private enum Change {
    ADDED_WITH_AN_OLD_TIME(" is new since "),
    REMOVED(" is gone since "),
    CHANGED_WITH_ITS_TIME(" has changed since "),
    CUT(" has changed since ");

    private final String said;

    Change(String said) {
      this.said = said;
    }
  }

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("scheduler: local\nhealth_check: false\n");
  }

  private void write(String name, String text) throws IOException {
    Path file = workspace.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private void shell(String name, String stage, String run, String more) throws IOException {
    write(
        name + ".yaml",
        "stage: "
            + stage
            + "\nbackend: shell\nrun: |\n  set -e\n  "
            + run
            + "\nresources: {time: 5m, memory: 100M}\n"
            + more);
  }

  /**
   * A stage that reads raw files, one that reads its rows, a training, an array, and a reader of
   * the checkpoint.
   */
  private void pipeline() throws IOException {
    write("raw/a.jsonl", "{\"id\":1,\"text\":\"one\"}\n{\"id\":2,\"text\":\"two\"}\n");
    write("raw/b.jsonl", "{\"id\":3,\"text\":\"three\"}\n{\"id\":4,\"text\":\"four\"}\n");
    write("extra/x.txt", "more to read");
    write(
        "prepare.yaml",
        """
        stage: data
        backend: data
        array: {shards: 2}
        data:
          prepare:
            input: ["${workspace}/raw/*.jsonl"]
            columns: {id: integer, text: text}
            text: [text]
        resources: {time: 5m, memory: 1G, cpus_per_task: 1}
        """);
    write(
        "filter.yaml",
        """
        stage: data
        backend: data
        data:
          filter:
            input: ["${stages.prepare.output}/train-*.parquet"]
            columns: {id: integer, text: text}
            rules: [{column: text, min_chars: 1}]
        resources: {time: 5m, memory: 1G, cpus_per_task: 1}
        """);
    shell(
        "train",
        "train",
        "mkdir -p \"$NEXA_CHECKPOINTS/final\"; ls \"${stages.filter.output}\" >\"$NEXA_CHECKPOINTS/final/model\"\n"
            + "  echo \"{\\\"checkpoint\\\": \\\"$NEXA_CHECKPOINTS/final\\\"}\" >\"$NEXA_METRICS\"",
        "lr: 1e-3\ndataset_path: ${workspace}/extra\n");
    shell(
        "each",
        "each",
        "mkdir -p \"$NEXA_OUTPUT\"; echo x >\"$NEXA_OUTPUT/$NEXA_TASK\"",
        "array: {shards: 2}\n");
    shell("use", "use", "cat \"${stages.train.checkpoint}/model\"", "");
    write(
        "pipeline.yaml",
        """
        stages:
          prepare: {config: prepare.yaml}
          filter: {config: filter.yaml, after: [prepare]}
          train: {config: train.yaml, after: [filter]}
          each: {config: each.yaml, after: ["aftercorr:prepare"]}
          use: {config: use.yaml, after: [train, "afterany:each"]}
        """);
  }

  /** Runs the pipeline to its end, and returns the runs by stage. */
  private Map<String, String> run(String... more) {
    List<String> words = new ArrayList<>(List.of("pipeline", "run", workspace + "/pipeline.yaml"));
    words.addAll(List.of("--cluster", "test", "--wait", "--json"));
    words.addAll(List.of(more));
    JsonObject end = Json.parseObject(person.says(words.toArray(String[]::new)));
    Map<String, String> runs = new LinkedHashMap<>();
    end.objects("stages").forEach(stage -> runs.put(stage.text("stage"), stage.text("run_id")));
    return runs;
  }

  /** What {@code --reuse} says, by stage; nothing runs. */
  private Map<String, String> reuse() {
    Map<String, String> said = new LinkedHashMap<>();
    person
        .says(
            "pipeline",
            "run",
            workspace + "/pipeline.yaml",
            "--cluster",
            "test",
            "--reuse",
            "--dry-run")
        .lines()
        .filter(line -> line.matches("[a-z]+ (runs|is reused): .*"))
        .forEach(
            line ->
                said.put(
                    line.substring(0, line.indexOf(' ')), line.substring(line.indexOf(' ') + 1)));
    return said;
  }

  private void allReused() {
    Map<String, String> said = reuse();
    assertThat(said.keySet()).containsExactlyElementsOf(STAGES);
    assertThat(said.values())
        .allMatch(line -> line.startsWith("is reused: the same plan and inputs"));
  }

  /**
   * Changes a file, looks, and puts it back; its inode stays another, so the lists are kept anew.
   */
  private void look(String stage, Path file, Change change, Map<String, String> runs)
      throws IOException {
    byte[] content = Files.readAllBytes(file);
    FileTime time = Files.getLastModifiedTime(file);
    String name = file.getFileName().toString();
    Path added = file.resolveSibling("added" + name.substring(Math.max(0, name.lastIndexOf('.'))));
    switch (change) {
      case ADDED_WITH_AN_OLD_TIME -> {
        Files.write(added, content);
        Files.setLastModifiedTime(added, FileTime.from(Instant.EPOCH));
      }
      case REMOVED -> Files.delete(file);
      case CHANGED_WITH_ITS_TIME -> {
        byte[] other = content.clone();
        other[0]++;
        Files.write(file, other);
        Files.setLastModifiedTime(file, time);
      }
      case CUT -> {
        Files.write(file, new byte[0]);
        Files.setLastModifiedTime(file, time);
      }
    }
    String which = change == Change.ADDED_WITH_AN_OLD_TIME ? added.toString() : file.toString();

    assertThat(reuse().get(stage))
        .as("%s of %s", change, file)
        .startsWith("runs: " + which + change.said + runs.get(stage));

    Files.deleteIfExists(added);
    Files.write(file, content);
    Files.setLastModifiedTime(file, time);
    for (String id : runs.values()) {
      RunFolder run = folderOf(id);
      for (RunFiles kind : RunFiles.values()) {
        kind.keep(run, kind.now(run, run.shownPlan()));
      }
    }
  }

  @Test
  void nothingIsReusedWhoseFilesOrParentsChanged() throws Exception {
    pipeline();
    Map<String, String> runs = run();
    allReused();
    Path outputs = workspace.resolve("durable/datasets");
    Map<Path, String> files = new LinkedHashMap<>();
    files.put(workspace.resolve("raw/a.jsonl"), "prepare");
    files.put(outputs.resolve(runs.get("prepare") + "/report-00001.json"), "prepare");
    files.put(outputs.resolve(runs.get("filter") + "/filtered-00000.parquet"), "filter");
    files.put(workspace.resolve("extra/x.txt"), "train");
    files.put(
        workspace.resolve("durable/checkpoints/" + runs.get("train") + "/final/model"), "train");
    files.put(outputs.resolve(runs.get("each") + "/1"), "each");
    for (Map.Entry<Path, String> file : files.entrySet()) {
      for (Change change : Change.values()) {
        look(file.getValue(), file.getKey(), change, runs);
      }
    }
    allReused();

    again("rerun", "--tasks", "1", runs.get("prepare"));

    Map<String, String> said = reuse();
    assertThat(said.get("prepare")).startsWith("is reused");
    assertThat(said.get("filter"))
        .isEqualTo("runs: prepare has run again since " + runs.get("filter") + " used it");
    assertThat(said.get("train")).isEqualTo("runs: filter runs again");
    assertThat(said.get("each"))
        .isEqualTo("runs: prepare has run again since " + runs.get("each") + " used it");

    Map<String, String> second = run("--reuse");
    assertThat(second.get("prepare")).isEqualTo(runs.get("prepare"));
    assertThat(second.get("use")).isNotEqualTo(runs.get("use"));
    allReused();
    Files.delete(folderOf(second.get("train")).path().resolve("files/read.json"));
    assertThat(reuse().get("train"))
        .isEqualTo("runs: " + second.get("train") + " has no list of the files that it read");
  }

  private RunFolder folderOf(String id) {
    return new Workspace(workspace, DurableFiles.onDisk()).run(new RunId(id));
  }

  private void again(String... command) throws InterruptedException {
    person.says(command);
    person.until("0 unfinished runs", "reconcile");
  }

  /** The earlier run keeps its id when it is resumed. */
  @Test
  void whatUsedAFailedRunIsNotReusedAfterTheRunWasResumed() throws Exception {
    shell(
        "a",
        "a",
        "mkdir -p \"$NEXA_OUTPUT\"; [[ -e " + workspace + "/mended ]]; echo a >\"$NEXA_OUTPUT/a\"",
        "");
    shell("y", "y", "mkdir -p \"$NEXA_OUTPUT\"; ls \"${stages.a.output}\" >\"$NEXA_OUTPUT/y\"", "");
    write(
        "pipeline.yaml",
        """
        stages:
          a: {config: a.yaml}
          y: {config: y.yaml, after: ["afterany:a"]}
          z: {config: y.yaml, after: [a, y]}
        """);
    String id =
        Json.parseObject(
                person.says(
                    "pipeline", "run", workspace + "/pipeline.yaml", "--cluster", "test", "--json"))
            .text("pipeline_id");
    person.until("is blocked", "reconcile");
    person.until("\"state\": \"blocked\",\n  \"cost\"", "pipeline", "status", id, "--json");
    Files.createFile(workspace.resolve("mended"));
    again("pipeline", "resume", id);

    Map<String, String> said = reuse();

    assertThat(said.get("a")).startsWith("is reused");
    assertThat(said.get("y")).startsWith("runs: a has run again since y_");
    assertThat(said.get("z")).isEqualTo("runs: y runs again");
  }

  @Test
  void aKeyIsNamedAsTheConfigNamesIt() throws IOException {
    pipeline();
    run();
    Files.writeString(
        workspace.resolve("filter.yaml"),
        Files.readString(workspace.resolve("filter.yaml")).replace("min_chars: 1", "min_chars: 2"));
    assertThat(reuse().get("filter")).isEqualTo("runs: changed: data.filter.rules");
    Files.writeString(
        workspace.resolve("prepare.yaml"),
        Files.readString(workspace.resolve("prepare.yaml"))
            .replace("/raw/*.jsonl", "/raw/a.jsonl"));
    assertThat(reuse().get("prepare")).isEqualTo("runs: changed: a path of data.prepare");
    shell("train", "train", "true", "lr: 1e-4\n");
    assertThat(reuse().get("train")).isEqualTo("runs: filter runs again");
  }
}
