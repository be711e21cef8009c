package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The mistakes of a new user's first hour, and what each message says. */
class FirstHourTest {
  private static final String GOOD =
      """
      stage: train
      backend: python
      entrypoint: {script: train.py}
      """;

  private static final String PROFILE =
      """
      storage: {scratch: /scratch, durable: /durable, shared: /shared}
      default_partition: gpu
      partitions:
        gpu: {gpus_per_node: 8, gpu_type: h100, cpus_per_node: 64, memory_per_node: 64000M, max_time: 2-0}
        cpu: {gpus_per_node: 0, cpus_per_node: 64, memory_per_node: 64000M, max_time: 2-0}
      """;

  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder).withSlurm().file("train.py", "print()\n");
    terminal.file("configs/clusters/default.yaml", PROFILE);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          nodes: 2          | 4:1: nodes: unknown key (did you mean 'resources.nodes'?)
          gpus: 4           | 4:1: gpus: unknown key (did you mean 'resources.gpus_per_node'?); it counts the GPUs on each node
          gpu_per_node: 4   | 4:1: gpu_per_node: unknown key (did you mean 'resources.gpus_per_node'?)
          cpus: 4           | 4:1: cpus: unknown key (did you mean 'resources.cpus_per_task'?); it counts the CPUs on each node
          mem: 16G          | 4:1: mem: unknown key (did you mean 'resources.memory'?); it is the memory on each node
          partition: gpu    | 4:1: partition: unknown key (did you mean 'resources.partition'?)
          account: nlp      | 4:1: account: unknown key (did you mean 'resources.account'?)
          learning_rate: 1  | 4:1: learning_rate: unknown key (did you mean 'lr'?)
          job-name: x       | 4:1: job-name: unknown key (did you mean 'name'?)
          output: x.log     | 4:1: output: unknown key; the run's folder keeps what the job prints, and `nexa-slurm logs` shows it
          frobnicate: 1     | 4:1: frobnicate: unknown key; the nearest known keys are estimate, name, monitor; `nexa-slurm explain config` lists all
          resources.nodes: 2 | 4:1: resources.nodes: unknown key; a dot in a key opens no section: write resources: {nodes: …}
          """)
  void anUnknownKeyIsOneProblemThatSaysWhereItBelongs(String line, String problem) {
    terminal.file("run.yaml", GOOD + line + "\nresources: {time: 1h, gpus_per_node: 0}\n");

    assertThat(problems("run.yaml")).containsExactly("run.yaml:" + problem);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          mem: 16G     | resources.mem: unknown key (did you mean 'memory'?); it is the memory on each node
          gpus: 4      | resources.gpus: is for scripts that call srun; backend python starts its processes itself, by nodes: N and gpus_per_node: N
          lr: 1e-4     | resources.lr: unknown key (did you mean 'lr' at the top level?)
          script: a.py | resources.script: unknown key (did you mean 'entrypoint.script'?)
          memory: 16   | resources.memory: a memory size needs a unit: write 16G for 16 GiB (sbatch's --mem=16 means 16 MiB, which is 16M)
          memory: "16" | resources.memory: a memory size needs a unit: write 16G for 16 GiB (sbatch's --mem=16 means 16 MiB, which is 16M)
          memory: 64000 | resources.memory: a memory size needs a unit: write 64000M (sbatch's --mem=64000 means 64000 MiB, which is 64000M)
          memory: 1.5T | resources.memory: expected a memory size such as 64G or 512M, got '1.5T': write 1536G
          memory: 128G | resources.memory: you ask for 128 GiB on a node; partition 'gpu' has 62.5 GiB on a node
          nodes: two   | resources.nodes: expected a whole number from 1 to 100000, or a range such as 2-4, got 'two'
          """)
  void soIsAWrongResource(String key, String problem) {
    terminal.file("run.yaml", GOOD + "resources:\n  time: 1h\n  partition: gpu\n  " + key + "\n");
    terminal.file("a.py", "");

    List<String> problems = problems("run.yaml");

    assertThat(problems.get(0)).matches("run.yaml:7:\\d+: .*").endsWith(": " + problem);
    assertThat(problems).hasSize(1);
  }

  @Test
  void aListOrAMappingWrittenAsTextIsAnsweredWithTheFormToWrite() {
    terminal.file(
        "run.yaml",
        "stage: train\nbackend: python\nentrypoint: {script: train.py, args: --lr 0.1}\n"
            + "env: [WANDB_MODE=offline]\nresources: {time: 1h}\n");

    assertThat(problems("run.yaml"))
        .containsExactly(
            "run.yaml:3:38: entrypoint.args: expected a list of values, got text '--lr 0.1'; write"
                + " args: [--lr, 0.1]",
            "run.yaml:4:6: env: expected a mapping of names, got a list; write env: {WANDB_MODE:"
                + " offline}");
  }

  @Test
  void aShortLimitOfMinutesAndSecondsIsNoted() {
    terminal.file("run.yaml", GOOD + "resources: {time: 1:30}\n");

    assertThat(terminal.type("estimate", "run.yaml").err())
        .contains(
            "1:30 is minutes:seconds, as in Slurm, so the limit is 2 minutes; write 1:30:00 for 1 h"
                + " 30 min");
    terminal.file("run.yaml", GOOD + "resources: {time: '30:00'}\n");
    assertThat(terminal.type("estimate", "run.yaml").err()).doesNotContain("minutes:seconds");
  }

  @Test
  void dataThatIsNotThereIsNotedBeforeTheSubmit() {
    Path data = terminal.workspace.resolve("train.jsonl");
    terminal.file("train.jsonl", "{}\n");
    terminal.file("run.yaml", GOOD + "dataset_path: " + data + "l\nresources: {time: 1h}\n");
    assertThat(terminal.type("estimate", "run.yaml").err())
        .contains("there is no " + data + "l on this host", "(did you mean 'train.jsonl'?)");
    terminal.file("run.yaml", GOOD + "dataset_path: train.jsonl\nresources: {time: 1h}\n");
    assertThat(terminal.type("estimate", "run.yaml").err())
        .contains("dataset_path: train.jsonl is a relative path", "in the job's folder");
    terminal.file("run.yaml", GOOD + "dataset_path: org/name\nresources: {time: 1h}\n");
    assertThat(terminal.type("estimate", "run.yaml").err()).doesNotContain("dataset_path");
    terminal.file("run.yaml", GOOD + "dataset: data/x.jsonl\nresources: {time: 1h}\n");
    assertThat(terminal.type("estimate", "run.yaml").err()).contains("(dataset_path takes a path)");
  }

  @Test
  void aLineWithoutItsColonIsNamed() {
    terminal.file("run.yaml", GOOD + "resources:\n  memory 4G\n  time: 1h\n");
    assertThat(problems("run.yaml"))
        .containsExactly("run.yaml:5:3: not YAML: 'memory 4G' has no colon: write memory: 4G");
    terminal.file("run.yaml", GOOD + "resources: {time: 1h}\nlr 1\nname: a\n");
    assertThat(problems("run.yaml"))
        .containsExactly("run.yaml:5:1: not YAML: 'lr 1' has no colon: write lr: 1");
  }

  @Test
  void aSecretInAScriptOrAfterSetIsRefusedAndNotShown() {
    String token = "hf_" + "abcdefghijklmnopqrstuvwxyzabcdefgh";
    terminal.file("job.sh", "#!/bin/bash\nexport HF_TOKEN=" + token + "\n");

    assertThat(terminal.type("submit", "job.sh").err())
        .contains("job.sh holds a token of Hugging Face", "docs/secrets.md")
        .doesNotContain(token.substring(0, 12));
    terminal.file("job.sh", "#!/bin/bash\ntrue\n");
    assertThat(terminal.type("submit", "job.sh", "--set", "env.HF_TOKEN=" + token).err())
        .contains("--set env.HF_TOKEN=…: env.HF_TOKEN: looks like a token of Hugging Face")
        .doesNotContain(token.substring(0, 12));
  }

  @Test
  void aKeyThatTheProgramDoesNotGetIsNoted() {
    terminal.file(
        "run.yaml",
        GOOD.replace("train.py", "train.py, config: false")
            + "lr: 0.1\nmodel_name: m\nsweep: {batch_size: [1, 2]}\nresources: {time: 1h}\n");

    assertThat(terminal.type("submit", "run.yaml").err())
        .contains(
            "sweep: all 2 points would do the same work: train.py gets no argument that differs,"
                + " and does not read NEXA_SWEEP_BATCH_SIZE. To give it --batch_size, write"
                + " options.batch_size in the sweep");
    terminal.file("train.py", "import os\nprint(os.environ['NEXA_SWEEP_BATCH_SIZE'])\n");
    assertThat(terminal.type("estimate", "run.yaml").err())
        .contains(
            "note: the program does not get lr, because entrypoint.config is false",
            "only as variables, because entrypoint.config is false: NEXA_SWEEP_BATCH_SIZE; to give it");
    assertThat(terminal.type("estimate", "run.yaml", "--set", "entrypoint.config=true").err())
        .doesNotContain("does not get");
  }

  @Test
  void theTimeLimitAboveMaxTimeNamesBothNumbers() {
    terminal.file("run.yaml", GOOD + "resources: {time: 4d, partition: gpu}\n");

    assertThat(problems("run.yaml"))
        .containsExactly(
            "run.yaml:4:19: resources.time: you ask for a time limit of 4 days; partition 'gpu' has a"
                + " time limit of 2 days (MaxTime)");
  }

  @Test
  void aScriptInPlaceOfASectionIsOneErrorWithTheFormToWrite() {
    terminal.file("run.yaml", "stage: train\nentrypoint: train.py\nresources: {time: 1h}\n");

    assertThat(problems("run.yaml"))
        .containsExactly(
            "run.yaml:2:13: entrypoint: expected a mapping of keys, got text 'train.py'; write"
                + " entrypoint: {script: train.py}");
  }

  @Test
  void anUnknownBackendAMissingScriptAndABadSizeAreToldAtOnce() {
    terminal.file(
        "run.yaml",
        "stage: train\nbackend: pyton\nentrypoint: {script: gone.py}\nresources: {time: 1h, memory: lots}\n");

    assertThat(problems("run.yaml"))
        .containsExactly(
            "run.yaml:2:10: backend: there is no backend 'pyton' (did you mean 'python'?); there are"
                + " shell, python, hf, axolotl, accelerate, vllm, lm_eval, data, sync, diag",
            "run.yaml:3:22: entrypoint.script: no such file: gone.py. Looked for it in: "
                + terminal.workspace
                + "/gone.py",
            "run.yaml:4:31: resources.memory: expected a memory size with its unit: 64G, 512M or 1T,"
                + " got 'lots'");
  }

  @Test
  void whatTheClusterCannotGiveIsToldBesideUnknownKeysAndTheBackend() {
    terminal.file(
        "run.yaml",
        "stage: train\nbackend: pyton\nentrypoint: {script: gone.py}\ntime: 1h\ngpus: 9\npartition: gpuu\n");

    assertThat(problems("run.yaml"))
        .hasSize(6)
        .anyMatch(line -> line.contains("backend: there is no backend 'pyton'"))
        .anyMatch(line -> line.contains("entrypoint.script: no such file: gone.py"))
        .anyMatch(line -> line.contains("has no partition 'gpuu' (did you mean 'gpu'?)"));
  }

  @Test
  void flatKeysAreEachToldOnceAndNothingElse() {
    terminal.file(
        "run.yaml",
        "stage: train\nscript: train.py\nnodes: 2\ngpus: 4\ntime: 1h\nmem: 16G\nlearning_rate: 1e-4\n");

    assertThat(problems("run.yaml"))
        .containsExactly(
            "run.yaml:2:1: script: unknown key (did you mean 'entrypoint.script'?)",
            "run.yaml:3:1: nodes: unknown key (did you mean 'resources.nodes'?)",
            "run.yaml:4:1: gpus: unknown key (did you mean 'resources.gpus_per_node'?); it counts the"
                + " GPUs on each node",
            "run.yaml:5:1: time: unknown key (did you mean 'resources.time'?)",
            "run.yaml:6:1: mem: unknown key (did you mean 'resources.memory'?); it is the memory on"
                + " each node",
            "run.yaml:7:1: learning_rate: unknown key (did you mean 'lr'?)");
  }

  @Test
  void setSaysTheSame() {
    terminal.file("run.yaml", GOOD + "resources: {time: 1h}\n");

    assertThat(problems("run.yaml", "--set", "nodes=2", "--set", "mem=4G"))
        .containsExactly(
            "--set mem=4G: mem: unknown key (did you mean 'resources.memory'?); it is the memory on"
                + " each node",
            "--set nodes=2: nodes: unknown key (did you mean 'resources.nodes'?)");
  }

  @Test
  void anotherSpellingOfAGpuIsSuggestedAndAnotherGpuIsNot() {
    terminal.file("run.yaml", GOOD + "resources: {time: 1h, gpus_per_node: 1, gpu_type: H-100}\n");

    assertThat(problems("run.yaml").get(0))
        .endsWith(
            "no partition of cluster profile 'default' fits 1 node with 1 H-100 GPU, 1 CPU, for 1 hour"
                + " (did you mean 'h100'?):");

    terminal.file("configs/clusters/default.yaml", PROFILE.split("default_partition", -1)[0]);
    Screen unknown = terminal.type("estimate", "run.yaml");
    assertThat(unknown.exit()).isEqualTo(2);
    assertThat(unknown.err())
        .contains("has no price for GPU type 'H-100' (did you mean 'h100'?); it has ");
    Screen real = terminal.type("estimate", "run.yaml", "--gpus", "v100:1");
    assertThat(real.err())
        .contains("has no price for GPU type 'v100'; it has a100, h100")
        .doesNotContain("did you mean");
  }

  @Test
  void noPartitionThatFitsNamesWhatWasAsked() {
    terminal.file("run.yaml", GOOD + "resources: {time: 1h, memory: 128G}\n");

    assertThat(terminal.type("estimate", "run.yaml").err())
        .contains("fits 1 node with 1 CPU and 128 GiB, for 1 hour:")
        .contains("gpu has 62.5 GiB on a node");
  }

  @Test
  void aMissingConfigSaysWhereItWasLookedFor() {
    Screen screen = terminal.file("run.yaml", GOOD).type("submit", "rum.yaml");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("no such file: rum.yaml (did you mean 'run.yaml'?). Looked for it in: ")
        .contains(", " + terminal.workspace + "/rum.yaml, and in the jar [file-not-found]");
  }

  @Test
  void almostNoMemoryForAGpuIsNoted() {
    terminal.file(
        "run.yaml",
        GOOD + "resources: {time: 1h, gpus_per_node: 4, gpu_type: h100, memory: 512M}\n");

    assertThat(terminal.type("estimate", "run.yaml").err())
        .isEqualTo(
            "note: resources.memory is 512 MiB on each node, 128 MiB for each GPU: a program on GPUs"
                + " usually needs more, such as resources.memory: 62G\n");
    // 64G would be the usual amount, but a node has 62.5 GiB.
    assertThat(terminal.type("estimate", "run.yaml", "--mem", "62G").exit()).isZero();
    assertThat(terminal.type("estimate", "run.yaml", "--mem", "64G").exit()).isEqualTo(2);
    assertThat(terminal.type("submit", "run.yaml").out())
        .contains("\nnote: resources.memory is 512");
    assertThat(terminal.type("estimate", "run.yaml", "--mem", "4G").err()).isEmpty();
    assertThat(terminal.type("estimate", "run.yaml", "--gpus", "0").exit()).isEqualTo(2);
  }

  /** The lines of the error, with the workspace's path left out. */
  private List<String> problems(String... arguments) {
    String[] words = new String[arguments.length + 1];
    words[0] = "estimate";
    System.arraycopy(arguments, 0, words, 1, arguments.length);
    Screen screen = terminal.type(words);
    assertThat(screen.exit()).as(screen.err()).isEqualTo(2);
    assertThat(screen.out()).isEmpty();
    return screen
        .err()
        .replaceFirst("^nexa-slurm: ", "")
        .replaceFirst(" \\[[a-z-]+]\n(?s:.*)$", "")
        .lines()
        .map(line -> line.replaceFirst("^" + terminal.workspace + "/", ""))
        .toList();
  }
}
