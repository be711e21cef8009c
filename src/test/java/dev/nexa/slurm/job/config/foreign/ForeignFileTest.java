package dev.nexa.slurm.job.config.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A file of one kind, handed to what reads another kind. */
class ForeignFileTest {
  private static final String SCRIPT =
      "write the job's command into a script, and type:"
          + " nexa-slurm submit job.sh --gpus N --mem SIZE --time LIMIT";

  @TempDir Path folder;

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {apiVersion: batch/v1, kind: Job, spec: {x: 1}}       | a manifest of Kubernetes (it has apiVersion and kind) | SCRIPT
          {services: {train: {image: a}}}                       | a file of Docker Compose (it has services)            | SCRIPT
          {on: push, jobs: {build: {runs-on: x}}}               | a workflow of GitHub (it has jobs and on)             | SCRIPT
          {cluster_name: a, provider: {type: aws}}              | a cluster of Ray (it has provider and cluster_name)   | SCRIPT
          {type: task, commands: [python train.py]}             | a task of dstack (it has type and commands)           | SCRIPT
          {base_model: m, datasets: [{path: a}]}                | a config of Axolotl (it has base_model and datasets)  | write a config with backend: axolotl and options_file: FILE
          {distributed_type: FSDP, num_processes: 8}            | a config of Accelerate (it has distributed_type)      | write a config with backend: accelerate and options_file: FILE
          {model_name_or_path: m, learning_rate: 1e-5}          | a config of TRL (it has model_name_or_path)           | write a config with backend: hf and options_file: FILE
          {"zero_optimization": {"stage": 2}}                   | a config of DeepSpeed (it has zero_optimization)      | write strategy: zero2 or zero3 into the run's config
          {defaults: [_self_], hydra: {run: {dir: x}}}          | a config of Hydra (it has defaults)                   | start the program that reads it: nexa-slurm submit SCRIPT -- KEY=VALUE
          {"architectures": ["L"], "model_type": "llama"}       | a model's config.json (it has model_type)             | write the model's folder into the run's config: model_name: FOLDER
          {"cells": [], "nbformat": 4}                          | a notebook (it has nbformat)                          | make it a script: jupyter nbconvert --to script FILE
          {name: a, channels: [x], dependencies: [python=3.11]} | an environment of conda (it has dependencies)         | write its name into the run's config: software: {conda: NAME}
          {run_id: train_1, status: completed}                  | a record of a run (it has run_id)                     | to look at the run: nexa-slurm runs show RUN
          """)
  void aFileOfAnotherProgramIsNamed(String text, String kind, String step) throws IOException {
    Path file = write("job.yaml", text);
    String next = "\n  → " + step.replaceFirst("^SCRIPT$", SCRIPT).replace("FILE", file.toString());

    assertThat(read("run", file)).isEqualTo(file + " is " + kind + ", not a run's config" + next);
    assertThat(read("pipeline", file)).isEqualTo(file + " is " + kind + ", not a pipeline" + next);
    assertThat(read("prices", file)).isEqualTo(file + " is " + kind + ", not a price book" + next);
  }

  @Test
  void keysThatHaveOtherNamesHereAreListed() throws IOException {
    Path sky =
        write(
            "sky.yaml",
            "num_nodes: 2\nresources: {accelerators: H100:4}\nsetup: pip\nrun: torchrun a.py\n");
    Path sweep = write("wandb.yaml", "program: a.py\nmethod: grid\nparameters: {lr: {value: 1}}\n");

    assertThat(read("run", sky))
        .isEqualTo(
            sky
                + " is a task of SkyPilot (it has resources.accelerators), not a run's config\n"
                + (sky + ":1:1: num_nodes: unknown key (did you mean 'resources.nodes'?)\n")
                + sky
                + ":2:13: resources.accelerators: unknown key (did you mean 'gpus_per_node'?);"
                + " accelerators: H100:4 is gpus_per_node: 4 with gpu_type: h100\n  → "
                + SCRIPT);
    assertThat(read("run", sweep))
        .isEqualTo(
            sweep
                + " is a sweep of W&B (it has method and parameters), not a run's config\n"
                + (sweep + ":1:1: program: unknown key (did you mean 'entrypoint.script'?)\n")
                + (sweep + ":3:1: parameters: unknown key (did you mean 'sweep'?)\n  → ")
                + SCRIPT);
  }

  static Stream<Path> shipped() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("configs"), FileVisitOption.FOLLOW_LINKS)) {
      return files
          .filter(file -> file.toString().matches(".*(?<!failures|fsdp_4gpu)\\.yaml"))
          .sorted()
          .toList()
          .stream();
    }
  }

  /** What reads a file of the jar, what it is, and the end of the next step. */
  private static List<String> kind(Path file) {
    String path = file.toString();
    if (path.contains("/clusters/")) {
      return List.of("", "a cluster profile (it has price_book)", "--cluster NAME");
    }
    if (path.endsWith("gpus.yaml")) {
      return List.of("", "the GPU catalog (it has gpus and as_of)", "docs/gpu-catalog.md");
    }
    if (path.endsWith("policy.yaml")) {
      return List.of("", "a policy (it has approval_over)", "nexa-slurm policy show");
    }
    if (path.contains("/prices/")) {
      return List.of(
          "prices", "a price book (it has currency and as_of)", "nexa-slurm prices check " + path);
    }
    return path.contains("/pipelines/")
        ? List.of("pipeline", "a pipeline (it has stages)", "nexa-slurm pipeline run " + path)
        : List.of("run", "a run's config (it has ", "nexa-slurm submit " + path);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("shipped")
  void aFileOfOursIsNamedByTheCommandThatReadsIt(Path file) {
    for (String reader : List.of("run", "pipeline", "prices")) {
      if (!reader.equals(kind(file).get(0))) {
        assertThat(read(reader, file))
            .startsWith(file + " is " + kind(file).get(1))
            .endsWith(kind(file).get(2));
      }
    }
  }

  static Stream<Path> readable() throws IOException {
    return shipped().filter(file -> !kind(file).get(0).isEmpty());
  }

  /** A mistake in a file does not make it a file of another kind. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("readable")
  void anUnknownKeyIsNoOtherKind(Path file) throws IOException {
    Path broken = write("broken.yaml", Files.readString(file) + "\nbogus: [1]\n");

    assertThat(read(kind(file).get(0), broken)).contains(": bogus: unknown key");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          train.py    | run      | FILE is a script, not a run's config; nexa-slurm submit FILE
          job.sh      | pipeline | FILE is a script, not a pipeline; nexa-slurm submit FILE
          train.ipynb | pipeline | FILE is neither a config (.yaml) nor a script (.py or .sh); make it a script: jupyter nbconvert --to script FILE
          Dockerfile  | run      | FILE is neither a config (.yaml) nor a script (.py or .sh); write the image's name into a config: software: {container: IMAGE}
          notes.md    | prices   | FILE is neither a config (.yaml) nor a script (.py or .sh); name a config or a script
          """)
  void aNameThatIsNoneOfAConfigIsRefused(String name, String reader, String message)
      throws IOException {
    Path file = write(name, "print()\n");

    assertThat(read(reader, file))
        .isEqualTo(message.replace("FILE", file.toString()).replace("; ", "\n  → "));
  }

  @ParameterizedTest(name = "[{0}]")
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      textBlock =
          """
          run      | ''       | is empty
          run      | ' '      | is empty
          run      | '# only' | holds only comments
          pipeline | ''       | is empty
          prices   | '# only' | holds only comments
          """)
  void aFileWithoutAKeySaysWhatListsThem(String reader, String text, String message)
      throws IOException {
    Path file = write("a.yaml", text);

    assertThat(read(reader, file))
        .isEqualTo(
            file
                + ":1:1: "
                + message
                + "; `nexa-slurm explain config` lists the keys of a run's config");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          -                           | -: a file is not read from standard input
          https://github.com/a/b/t.py | https://github.com/a/b/t.py is an address, and nexa-slurm downloads nothing
          s3://bucket/run.yaml        | s3://bucket/run.yaml is an address, and nexa-slurm downloads nothing
          git@github.com:a/b.git      | git@github.com:a/b.git is an address, and nexa-slurm downloads nothing
          """)
  void whatIsNoFileOfThisMachineIsTold(String typed, String message) {
    assertThat(read("run", typed))
        .startsWith(message + "\n  → ")
        .endsWith(", then type the command with the file's name");
  }

  private Path write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private String read(String reader, Path file) {
    return read(reader, file.toString());
  }

  /** What a person is told, without the code. */
  private String read(String reader, String typed) {
    ConfigReader configs = new ConfigReader(new ConfigSource(folder), Map.of());
    NexaException refused =
        catchThrowableOfType(
            NexaException.class,
            () -> {
              switch (reader) {
                case "run" -> configs.run(typed, List.of());
                case "pipeline" -> configs.pipeline(typed);
                default -> configs.pricesFile(typed);
              }
            });
    StringBuilder text = new StringBuilder(String.valueOf(refused.getMessage()));
    refused.advice().forEach(line -> text.append("\n  → ").append(line));
    return text.toString();
  }
}
