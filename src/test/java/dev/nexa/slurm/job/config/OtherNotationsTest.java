package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.config.pipeline.FromRuns;
import dev.nexa.slurm.job.config.run.RunConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Values in the notation of another program or language. Each is one problem, whose message says
 * what to write.
 */
class OtherNotationsTest {
  private static final String PROFILE =
      "partitions: {gpu: {gpu_type: h100}, old: {gpu_type: a100}}\n"
          + "storage: {scratch: /s, durable: /d, shared: /h}\n";

  /** Lines are parted by semicolons; the rest of a config without a mistake follows. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          resources: {nodes: 1_000, time: 1h} | 3:20: resources.nodes: expected a whole number from 1 to 100000, or a range such as 2-4, got '1_000': write 1000
          resources: {nodes: 08, time: 1h} | 3:20: resources.nodes: expected a whole number from 1 to 100000, or a range such as 2-4, got '08': write 8
          resources: {nodes: 1e3, time: 1h} | 3:20: resources.nodes: expected a whole number from 1 to 100000, or a range such as 2-4, got '1e3': write 1000
          resources: {gpus_per_node: 0.5, time: 1h} | 3:28: resources.gpus_per_node: expected a whole number from 0 to 64, got '0.5': write 0 or 1; Slurm gives whole GPUs (parts of one: `nexa-slurm explain docs/prices.md`)
          resources: {gpus_per_node: 64.5, time: 1h} | 3:28: resources.gpus_per_node: expected a whole number from 0 to 64, got '64.5': write 64; Slurm gives whole GPUs (parts of one: `nexa-slurm explain docs/prices.md`)
          resources: {partition: [gpu], time: 1h} | 3:24: resources.partition: expected a partition's name, or several such as gpu,long, got a list: write partition: gpu
          resources: {exclusive: yes, time: 1h} | 3:24: resources.exclusive: expected true or false, got text 'yes': write true
          resources:;  - time: 1h;  - nodes: 2 | 4:3: resources: expected keys without dashes, got a list: write `time: …`, not `- time: …`
          resources:;time: 1h;nodes: 2 | 3:1: resources: is empty: put two spaces before the keys that belong to it: time, nodes
          env:;HF_HOME: /hf;resources: {time: 1h} | 3:1: env: is empty: put two spaces before the keys that belong to it: HF_HOME
          resources: {time:1h} | 3:13: resources.time: write a space after the colon: time: 1h
          resources: {time: 1h};array:10 | 4:6: write a space after the colon: array: 10
          resources:;  time:1h;  nodes: 2 | 4:7: write a space after the colon: time: 1h
          resources: {time: 1h};array: 0-9%2 | 4:8: array: expected a mapping of keys, got text '0-9%2'; write array: {shards: 10, max_parallel: 2}; NEXA_TASK is the number of a task, from 0
          resources: {time: 1h};array: 1-9:2 | 4:8: array: expected a mapping of keys, got text '1-9:2'; write array: {indices: 1-9:2}; NEXA_TASK is the number of a task, from 0
          resources: {time: 1h};sweep: {lr: "0.1,0.01"} | 4:13: sweep.lr: expected a list of numbers, or {min: …, max: …, scale: log}, got text '0.1,0.01'; write lr: [0.1, 0.01]
          resources: {time: 1h};sweep: {lr: "choice(0.1, 0.01)"} | 4:13: sweep.lr: expected a list of numbers, or {min: …, max: …, scale: log}, got text 'choice(0.1, 0.01)'; write lr: [0.1, 0.01]
          resources: {time: 1h};lr: "3,5" | 4:5: lr: expected a number, got text '3,5': write 3.5
          resources: {time: 1h};lr: "1,000" | 4:5: lr: expected a number, got text '1,000': write 1000 or 1.000
          resources: {time: 1h};lr: 7 to 9 | 4:5: lr: expected a number, got text '7 to 9'
          resources: {time: 1h};entrypoint: {script: t.py, config: my/conf.yaml} | 4:36: entrypoint.config: expected true or false, got text 'my/conf.yaml'; true gives the script the training keys. For a file of yours write files: [my/conf.yaml] and entrypoint: {config: false, args: [--config, "${run_dir}/runner/conf.yaml"]}
          resources: {time: 1h};env: {A: "${DATA}/x"} | 4:10: env.A: no shell reads this text, so the job would get it as it is: write ${env:DATA} for the value that DATA has here; a value of the job's own is exported in setup
          """)
  void aMistakeIsOneProblemThatSaysWhatToWrite(String lines, String problem) {
    String text = "stage: train\nbackend: python\n" + lines.replace(';', '\n') + "\n";
    assertThat(problems(text)).containsExactly("run.yaml:" + problem);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          command: [python, train.py] | 3:1: command: unknown key (did you mean 'run'?); run is for backend: shell: write run: python train.py
          cmd: [make data, make all]  | 3:1: cmd: unknown key (did you mean 'run'?); run is for backend: shell: write each command on a line of its own below run: |
          """)
  void aCommandIsOneText(String line, String problem) {
    String text = "stage: data\nbackend: shell\n" + line + "\nresources: {time: 1h}\n";

    assertThat(problems(text))
        .containsExactly("run.yaml:" + problem + (problem.endsWith("run:") ? " |" : ""));
  }

  /** YAML reads the lines below as a part of the first word. */
  @Test
  void theLineWithoutTheSpaceIsNamedNotTheNext() {
    assertThat(problems("stage:train\nbackend: shell\n"))
        .containsExactly("run.yaml:1:6: write a space after the colon: stage: train");
  }

  @Test
  void whatIsNoMistakeStays() {
    RunConfig config =
        new ConfigFolder(Map.of("DATA", "/data"))
            .with(
                "run.yaml",
                "stage: data\nbackend: shell\nrun: curl http://a:80\nresources: {time: 90}\n"
                    + "env: {A: '${env:DATA}/${scratch}', B: 'a$b', C: '5$'}\n")
            .run();

    assertThat(config.environment().env())
        .containsEntry("A", "/data/${scratch}")
        .containsEntry("B", "a$b");
    assertThat(config.notes()).isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          time: 7200  | /home/ada/science/run.yaml:4:19: resources.time: 7200 is minutes, as in Slurm, so the limit is 5 days; write 120m for 7200 seconds
          time: 02:00 | /home/ada/science/run.yaml:4:19: resources.time: 02:00 is minutes:seconds, as in Slurm, so the limit is 2 minutes; write 02:00:00 for 2 h 0 min
          """)
  void aNumberThatIsPerhapsOfAnotherUnitIsNoted(String time, String note) {
    String text = "stage: data\nbackend: shell\nrun: echo\nresources: {" + time + "}\n";

    assertThat(new ConfigFolder().with("run.yaml", text).run().notes()).containsExactly(note);
  }

  @Test
  void aVariableOfTheShellWithoutBracesIsNoted() {
    String text = "stage: data\nbackend: shell\nrun: echo\nresources: {time: 1h}\n";
    RunConfig config =
        new ConfigFolder().with("run.yaml", text + "env: {PATH: '/opt/bin:$PATH'}\n").run();

    assertThat(config.environment().env()).containsEntry("PATH", "/opt/bin:$PATH");
    assertThat(config.notes())
        .containsExactly(
            ConfigFolder.PATH
                + "/run.yaml:5:13: env.PATH: no shell reads this text, so the job would get it as it is:"
                + " write ${env:PATH} for the value that PATH has here; a value of the job's own is"
                + " exported in setup");
  }

  /** nvidia-smi prints such names. */
  @Test
  void theWholeNameOfAGpuHoldsItsType() {
    ConfigReader reader =
        new ConfigFolder()
            .with(
                "run.yaml",
                "stage: data\nbackend: shell\nrun: echo\n"
                    + "resources: {gpus_per_node: 1, gpu_type: NVIDIA H100 80GB HBM3, time: 1h}\n")
            .with("configs/clusters/mine.yaml", PROFILE)
            .reader();

    assertThatThrownBy(
            () ->
                reader.run(
                    "run.yaml",
                    List.of(),
                    FromRuns.NONE,
                    Optional.empty(),
                    Optional.of("mine"),
                    "default"))
        .hasMessage(
            ConfigFolder.PATH
                + "/run.yaml:4:41: resources.gpu_type: expected a name of letters, digits, '.', '_'"
                + " and '-', got 'NVIDIA H100 80GB HBM3' (did you mean 'h100'?); the cluster has h100,"
                + " a100");
  }

  private static List<String> problems(String text) {
    return new ConfigFolder().with("run.yaml", text).problems();
  }
}
