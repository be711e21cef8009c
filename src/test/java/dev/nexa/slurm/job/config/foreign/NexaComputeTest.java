package dev.nexa.slurm.job.config.foreign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.run.Entrypoint;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.run.Supervision;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A sweep file of the Nexa_Compute project, taken as it is written. */
class NexaComputeTest {
  private static final String FILE =
      DurableFiles.read(Path.of("src/test/resources/nexa-compute/sweep.yaml"));

  @Test
  void itsSweepBecomesARunOfOurs() {
    RunConfig run = read(FILE);

    assertThat(run.backend()).isEqualTo("python");
    assertThat(run.title()).isEqualTo("glue-lr");
    assertThat(run.labels().tags()).containsExactly("glue", "baseline");
    assertThat(run.resources().time()).isEqualTo(Duration.ofMinutes(30));
    assertThat(run.resources().gpuType()).contains("h100");
    assertThat(run.resources().option(ResourceOption.PARTITION)).contains("gpu");
    assertThat(run.array().maxParallel()).contains(4);
    assertThat(run.supervision().mail()).contains(new Supervision.Mail("root", "END,FAIL"));
    assertThat(run.environment().setup())
        .contains("echo \"begins on $(hostname)\"\nexport FROM_PRE_COMMAND='a b'\n");
    assertThat(run.environment().workdir()).contains(ConfigFolder.PATH);
    assertThat(run.work().entrypoint())
        .contains(
            new Entrypoint(
                Optional.of("scripts/train.py"),
                Optional.empty(),
                List.of("--dataset", "glue", "--output-dir", "my runs/glue", "--epochs=1"),
                false,
                Optional.of("python"),
                List.of()));
    assertThat(run.environment().env())
        .isEqualTo(
            Map.of(
                "PYTHONUNBUFFERED", "1",
                "PYTHONPATH", ConfigFolder.PATH + "/scripts",
                "TOKENIZERS_PARALLELISM", "false",
                "NEXA_SCRATCH", "/workspace/tmp",
                "WANDB_MODE", "offline",
                "WANDB_RUN_GROUP", "glue-search",
                "WANDB_RUN_NAME", "glue-lr_${point}"));
    assertThat(run.array().points()).hasSize(8);
    assertThat(run.array().points().get(1))
        .hasToString(
            "{\"options.learning-rate\":0.00001,\"options.batch-size\":8,"
                + "\"options.freeze-encoder\":false}");
    assertThat(run.notes())
        .extracting(note -> note.replace(ConfigFolder.PATH + "/", "").split(": ", 3)[1])
        .containsExactly("job.cost_per_gpu_hour", "job.output_dir");
  }

  @Test
  void whatItDoesNotSayIsAsThere() {
    RunConfig run = read("job:\nlauncher: {script: train.py}\n");

    assertThat(run.title()).isEqualTo("nexa-train");
    assertThat(run.array().points()).isEmpty();
    assertThat(run.resources().option(ResourceOption.PARTITION)).contains("gpu");
    assertThat(run.resources().time()).isEqualTo(Duration.ofHours(8));
    assertThat(run.resources().nodes()).isEqualTo(1);
    assertThat(run.resources().gpusPerNode()).isEqualTo(1);
    assertThat(run.resources().cpusPerTask()).isEqualTo(6);
    assertThat(run.work().entrypoint().orElseThrow().torchrun()).isFalse();
    assertThat(run.environment().env()).containsEntry("WANDB_RUN_NAME", "nexa-train_000");
  }

  @Test
  void aBareNumberOfMemoryIsMibAsSbatchTakesIt() {
    assertThat(
            read("job: {memory: 64000}\nlauncher: {script: train.py}\n").resources().memoryBytes())
        .contains(64_000L << 20);
    assertThat(read("job: {memory: 64G}\nlauncher: {script: train.py}\n").resources().memoryBytes())
        .contains(64L << 30);
  }

  @Test
  void torchrunIsStartedAsOursIsWithItsOwnOptions() {
    RunConfig run =
        read(
            """
            job: {nodes: 2, gpus_per_node: 4, gres: "gpu:a100:4", env: {WANDB_RUN_GROUP: mine, PYTHONPATH: /lib}}
            launcher:
              type: torchrun
              module: true
              entrypoint: pkg.train
              python: /opt/venv/bin/python
              nproc_per_node: 4
              nnodes: 2
              rdzv_endpoint: localhost:29500
              extra_args: ["--max_restarts 2"]
            """);

    Entrypoint entrypoint = run.work().entrypoint().orElseThrow();
    assertThat(entrypoint.module()).contains("pkg.train");
    assertThat(entrypoint.torchrun()).isTrue();
    assertThat(entrypoint.launcherArgs()).containsExactly("--max_restarts", "2");
    assertThat(run.resources().gpuType()).contains("a100");
    assertThat(run.environment().software().venv()).contains("/opt/venv");
    assertThat(run.environment().env())
        .containsEntry("WANDB_RUN_GROUP", "mine")
        .containsEntry("PYTHONPATH", "/lib");
    assertThat(run.notes()).singleElement().asString().contains("launcher.rdzv_endpoint: not used");
  }

  @Test
  void theCommandLineSetsItsOwnKeysAndOurs() {
    RunConfig run =
        new ConfigFolder()
            .with("run.yaml", FILE)
            .run("sweep.parameters.learning_rate=[1e-4]", "job.time=45", "requeues=2");

    assertThat(run.array().points()).hasSize(4);
    assertThat(run.resources().time()).isEqualTo(Duration.ofMinutes(45));
    assertThat(run.supervision().requeues()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          job: {partitoin: x}               | run.yaml:1:7: job.partitoin: unknown key (did you mean 'partition'?)
          job: {time: soon}                 | run.yaml:1:13: job.time: expected a time limit: 45 (minutes), 30:00 (minutes:seconds), 12:00:00, 1-12, 1-12:30, 1-12:30:00, 12h, 90m or 1d12h, got 'soon'
          job: {ntasks_per_node: 4}         | run.yaml:1:24: job.ntasks_per_node: expected 1: one launcher a node starts its ranks (nproc_per_node)
          job: {gres: license}              | run.yaml:1:13: job.gres: only GPUs can be asked for, such as gpu:a100:4
          job: {gres: gpu:2, gpus_per_node: 1} | run.yaml:1:13: job.gres: asks for 2 GPUs, but gpus_per_node is 1
          job: {mail_type: END}             | run.yaml:1:18: job.mail_type: needs mail_user
          job: {mail_user: x, mail_type: A B} | run.yaml:1:32: job.mail_type: expected words such as END,FAIL, got 'A B'
          job: {env: {1A: x}}               | run.yaml:1:13: job.env.1A: expected a variable's name, got '1A'
          job: {env: {NEXA_TASK: x}}        | run.yaml:1:24: env.NEXA_TASK: names that begin with NEXA_ are the job script's own
          """)
  void whatIsWrongIsToldWithItsPlaceThere(String line, String problem) {
    assertThat(problems(line + "\nlauncher: {script: train.py}\n")).containsExactly(problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          launcher: {}                                      | run.yaml:2:11: launcher.script: missing; expected the program to start
          launcher: {script: a.py, type: mpi}               | run.yaml:2:32: launcher.type: expected one of python, torchrun, got 'mpi'
          launcher: {script: a.py, python: bin/python}      | run.yaml:2:34: launcher.python: expected python3, or that of a virtual environment: DIR/bin/python
          launcher: {script: a.py, type: torchrun, nproc_per_node: 2} | run.yaml:2:58: launcher.nproc_per_node: expected 1, one process for each GPU; or write job.gpus_per_node
          launcher: {script: a.py, type: torchrun, nnodes: 2} | run.yaml:2:50: launcher.nnodes: expected 1 as job.nodes; a node that is not started is paid for
          launcher: {script: a.py, type: torchrun, rdzv_backend: static} | run.yaml:2:56: launcher.rdzv_backend: expected c10d; nodes meet through it
          launchr: {script: a.py}                           | run.yaml:1:1: launcher: missing; expected a mapping` and `run.yaml:2:1: launchr: unknown key (did you mean 'launcher'?)
          """)
  void soIsALauncherThatCannotStart(String line, String problem) {
    assertThat(String.join("` and `", problems("job: {}\n" + line + "\n"))).isEqualTo(problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          sweep: {base_args: ["it's"]}              | run.yaml:3:20: sweep.base_args: a quote ' is not closed in: it's
          sweep: {parameters: {lr: 1}}              | run.yaml:3:26: sweep.parameters.lr: expected a list of values, got a number '1'; write lr: [1]
          sweep: {parameters: {lr: []}}             | run.yaml:3:26: sweep.options.lr: is empty: name the values to try
          sweep: {parameters: {a_b: [1], a-b: [2]}} | run.yaml:3:37: sweep.parameters.a-b: is the same flag as another, --a-b
          sweep: {base_arg: [x]}                    | run.yaml:3:9: sweep.base_arg: unknown key (did you mean 'base_args'?)
          """)
  void andASweep(String line, String problem) {
    assertThat(problems("job: {}\nlauncher: {script: a.py}\n" + line + "\n"))
        .containsExactly(problem);
  }

  private static RunConfig read(String text) {
    return new ConfigFolder().with("run.yaml", text).run();
  }

  private static List<String> problems(String text) {
    return new ConfigFolder().with("run.yaml", text).problems();
  }
}
