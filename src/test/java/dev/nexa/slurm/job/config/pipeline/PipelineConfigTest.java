package dev.nexa.slurm.job.config.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig.Condition;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig.Stage;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A pipeline's file: its order, its items, what its stages set, and how it can be wrong. */
class PipelineConfigTest {
  private static final String RUN =
      """
      stage: train
      backend: hf
      model_name: mistral-7b-instruct
      dataset_path: data/science.parquet
      lr: 2e-5
      resources: {gpus_per_node: 1, gpu_type: h100, time: 1h}
      """;

  @TempDir Path folder;

  @Test
  void stagesStandAfterTheStagesThatTheyWaitForElseAsInTheFile() {
    PipelineConfig pipeline =
        read(
            """
            stages:
              serve: {config: a, after: ["afterany:gate", train]}
              b: {config: a}
              train: {config: a, after: [prepare]}
              gate: {config: a, after: [train]}
              prepare: {config: a}
            """);

    assertThat(pipeline.name()).isEqualTo("p");
    assertThat(pipeline.stages())
        .extracting(Stage::name)
        .containsExactly("b", "prepare", "train", "gate", "serve");
    assertThat(pipeline.stages().get(4).after())
        .isEqualTo(Map.of("gate", Condition.AFTERANY, "train", Condition.AFTEROK));
  }

  /** Against the definition, on random graphs: the order holds, and only a circle is refused. */
  @Test
  void anyGraphIsOrderedOrItsCircleIsNamed() {
    int circles = 0;
    for (int seed = 0; seed < 400; seed++) {
      Random random = new Random(seed);
      int size = 1 + random.nextInt(9);
      List<Integer> shuffled = new ArrayList<>();
      for (int i = 0; i < size; i++) {
        shuffled.add(i);
      }
      Collections.shuffle(shuffled, random);
      boolean mayTurn = random.nextBoolean();
      StringBuilder text = new StringBuilder("stages:\n");
      boolean[][] waits = new boolean[size][size];
      for (int stage : shuffled) {
        List<String> after = new ArrayList<>();
        for (int other = 0; other < size; other++) {
          if (other != stage && (other < stage || mayTurn) && random.nextInt(4) == 0) {
            waits[stage][other] = true;
            after.add("s" + other);
          }
        }
        text.append("  s" + stage + ": {config: a, after: " + after + "}\n");
      }
      if (isCircular(waits)) {
        circles++;
        assertThat(problems(text.toString())).hasSize(1).first().asString().contains("circle: s");
      } else {
        Set<String> before = new HashSet<>();
        for (Stage stage : read(text.toString()).stages()) {
          assertThat(before).as("%s", text).containsAll(stage.after().keySet());
          before.add(stage.name());
        }
        assertThat(before).hasSize(size);
      }
    }
    assertThat(circles).isBetween(20, 200);
  }

  /** Whether a path leads from a stage to itself, by the closure of all paths. */
  private static boolean isCircular(boolean[][] waits) {
    boolean[][] reach = new boolean[waits.length][];
    for (int i = 0; i < waits.length; i++) {
      reach[i] = waits[i].clone();
    }
    for (int k = 0; k < reach.length; k++) {
      for (int i = 0; i < reach.length; i++) {
        for (int j = 0; j < reach.length; j++) {
          reach[i][j] |= reach[i][k] && reach[k][j];
        }
      }
    }
    for (int i = 0; i < reach.length; i++) {
      if (reach[i][i]) {
        return true;
      }
    }
    return false;
  }

  @Test
  void forEachMakesAStageForEachItem() {
    PipelineConfig pipeline =
        read(
            """
            stages:
              train: {config: "configs/${each}.yaml", for_each: [small, big], set: {name: "of-${each}", tags: ["${each}"]}}
              eval: {config: a, after: [train]}
              look: {config: a, after: [train.big]}
            """);

    assertThat(pipeline.stages())
        .extracting(Stage::name)
        .containsExactly("train.small", "train.big", "eval", "look");
    assertThat(pipeline.stages().get(1).config()).isEqualTo("configs/big.yaml");
    assertThat(pipeline.stages().get(1).set().toString()).contains("of-big").contains("text=big");
    assertThat(pipeline.stages().get(2).after()).containsOnlyKeys("train.small", "train.big");
    assertThat(pipeline.stages().get(3).after()).containsOnlyKeys("train.big");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{} | p.yaml:1:9: stages: expected at least one stage",
        "{a: {config: x, after: [b]}} | p.yaml:1:32: stages.a.after: there is no stage 'b' (did you mean 'a'?)",
        "{train: {config: x}, e: {config: x, after: [tran]}} | p.yaml:1:52: stages.e.after: there is no stage 'tran' (did you mean 'train'?)",
        "{a: {config: x, after: [a]}} | p.yaml:1:32: stages.a.after: a stage cannot wait for itself",
        "{a: {config: x}, b: {config: x, after: [a, 'afterany:a']}} | p.yaml:1:48: stages.b.after: names the stage 'a' twice",
        "{a: {config: x, for_each: [b, c, b]}} | p.yaml:1:35: stages.a.for_each: names an item twice",
        "{a: {config: x, for_each: []}} | p.yaml:1:35: stages.a.for_each: expected at least one item",
        "{a: {config: x, for_each: [a.b]}} | p.yaml:1:36: stages.a.for_each[0]: expected letters, digits, '_' and '-', got 'a.b'",
        "{a: {config: x, for_each: [1, 2]}, b: {config: x, after: [a.3]}} | p.yaml:1:66: stages.b.after: there is no stage 'a.3' (did you mean 'a.1'?)",
        "{a: {after: []}} | p.yaml:1:13: stages.a.config: missing; expected text",
      })
  void aMistakeIsNamedWithItsPlace(String stages, String problem) {
    assertThat(problems("stages: " + stages + "\n")).contains(problem);
  }

  @Test
  void aCircleIsNamedStageByStage() {
    assertThat(
            problems(
                """
                stages:
                  a: {config: x}
                  b: {config: x, after: [a, d]}
                  c: {config: x, after: [b]}
                  d: {config: x, after: [c]}
                """))
        .containsExactly("p.yaml:3:25: stages.b.after: the stages wait in a circle: b → d → c → b");
  }

  @Test
  void aStageSetsKeysOfItsConfigAndMergesMappings() throws IOException {
    PipelineConfig pipeline =
        read(
            """
            stages:
              train:
                config: run.yaml
                set:
                  lr: 1e-4
                  resources: {time: 3h}
                  resources.cpus_per_task: 8
                  tags: [a, b]
            """);

    RunConfig run = run(pipeline.stages().get(0));

    assertThat(run.training().decimal("lr")).contains(new BigDecimal("1e-4"));
    assertThat(run.resources().time()).hasHours(3);
    assertThat(run.resources().cpusPerTask()).isEqualTo(8);
    assertThat(run.resources().gpuType()).contains("h100");
    assertThat(run.labels().tags()).containsExactly("a", "b");
  }

  @Test
  void aMistakeInAKeyThatAStageSetsIsNamedInThePipelinesFile() {
    PipelineConfig pipeline =
        read("stages:\n  train:\n    config: run.yaml\n    set: {resources.nodse: 2, lr: fast}\n");

    assertThat(problemsOf(() -> run(pipeline.stages().get(0))))
        .contains("p.yaml:4:28: resources.nodse: unknown key (did you mean 'nodes'?)")
        .anyMatch(problem -> problem.startsWith("p.yaml:4:35: lr: expected a"));
  }

  @Test
  void aReferenceMustNameAStageThatTheStageWaitsFor() throws IOException {
    PipelineConfig pipeline =
        read(
            """
            stages:
              prepare: {config: run.yaml}
              other: {config: run.yaml}
              many: {config: run.yaml, for_each: [x, y]}
              train:
                config: run.yaml
                after: [prepare, many]
                set:
                  dataset_path: ${stages.prepare.output}
              bad:
                config: run.yaml
                after: [prepare, many]
                set:
                  dataset_path: ${stages.prepair.output}
                  model_name: ${stages.prepare.model}
                  teacher_model: ${stages.many.output}
                  tags: ["${stages.other.checkpoint}"]
            """);

    RunConfig run = run(pipeline.stages().get(4));

    assertThat(run.training().text("dataset_path")).contains("${stages.prepare.output}");
    assertThat(run.labels().dataset()).isEmpty();
    assertThat(problemsOf(() -> run(pipeline.stages().get(5))))
        .contains(
            "p.yaml:14:21: ${stages.prepair.output}: 'prepair' is not in `after` of the stage bad (did"
                + " you mean 'prepare'?)",
            "p.yaml:15:19: ${stages.prepare.model}: expected ${stages.NAME.output} or"
                + " ${stages.NAME.checkpoint}",
            "p.yaml:16:22: ${stages.many.output}: the stage many has several items; name one of"
                + " many.x, many.y",
            "p.yaml:17:14: ${stages.other.checkpoint}: 'other' is not in `after` of the stage bad");
  }

  @Test
  void aRunOutsideAPipelineHasNoStages() throws IOException {
    Files.writeString(
        folder.resolve("run.yaml"), RUN.replace("data/science.parquet", "${stages.a.output}"));

    assertThat(problemsOf(() -> configs().run(folder.resolve("run.yaml").toString(), List.of())))
        .singleElement()
        .asString()
        .endsWith(
            "run.yaml:4:15: ${stages.a.output}: names a stage of a pipeline; name the run that made it:"
                + " --from a=RUN");
    Files.writeString(
        folder.resolve("run.yaml"),
        RUN + "env: {X: '${stages.a.checkpoint}/x', HYDRA: '${stages.a.lr}'}\n");
    assertThat(
            problemsOf(() -> configs().run("run.yaml", List.of("tags=[\"${stages.b.output}\"]"))))
        .containsExactly(
            "run.yaml:7:10: ${stages.a.checkpoint}: names a stage of a pipeline; name the run that made"
                + " it: --from a=RUN",
            "--set tags=[\"${stages.b.output}\"]: ${stages.b.output}: names a stage of a pipeline; name"
                + " the run that made it: --from b=RUN");
  }

  private ConfigReader configs() {
    return new ConfigReader(new ConfigSource(folder), Map.of());
  }

  private PipelineConfig read(String text) {
    try {
      Files.writeString(folder.resolve("p.yaml"), text);
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
    return configs().pipeline("p.yaml");
  }

  private RunConfig run(Stage stage) throws IOException {
    Files.writeString(folder.resolve("run.yaml"), RUN);
    return configs()
        .run("run.yaml", List.of(), FromRuns.NONE, Optional.of(stage), Optional.empty(), "default");
  }

  private List<String> problems(String text) {
    return problemsOf(() -> read(text));
  }

  private List<String> problemsOf(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    ConfigException wrong = catchThrowableOfType(ConfigException.class, call);
    assertThat(wrong).isNotNull();
    String here = folder + "/";
    return wrong.problems().stream().map(Problem::toString).map(t -> t.replace(here, "")).toList();
  }
}
