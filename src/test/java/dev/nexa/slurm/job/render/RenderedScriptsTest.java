package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is rendered, as files to look at: src/test/resources/golden/render. */
class RenderedScriptsTest {
  private static final Path GOLDEN = Golden.FOLDER.resolve("render");
  private static final String CLUSTER =
      "gpu_type: h100\nstorage: {scratch: /scratch, durable: /durable, shared: /shared}\n";

  @ParameterizedTest(name = "{0} on {1}")
  @CsvSource({
    "data/quickstart, default",
    "data/quickstart, cpu",
    "data/quickstart, local",
    "train/science, default",
    "train/science, cpu",
  })
  void theShippedConfigsOnTheShippedClusters(String config, String cluster) {
    Script script = Scripts.of(new ConfigFolder(), "configs/" + config + ".yaml", cluster);

    String name = config.substring(config.indexOf('/') + 1);
    Golden.check("render/" + name + "-" + cluster + ".sbatch", script.text());
  }

  /** What stands in a config for each backend. */
  private static final Map<String, String> BACKENDS =
      Map.of(
          "shell", "backend: shell\nrun: echo\n",
          "python", "backend: python\nentrypoint: {module: nexa.train}\nlr: 1e-3\n",
          "hf", "backend: hf\nmodel_name: m-7b\ndataset_path: ${durable}/d.parquet\n",
          "axolotl", "backend: axolotl\nmodel_name: m-7b\ndataset_path: ${durable}/d.parquet\n",
          "accelerate",
              "backend: accelerate\nmodel_name: m-7b\ndataset_path: ${durable}/d.parquet\n",
          "vllm",
              "backend: vllm\nmodel_name: m-7b\noptions: {input_file: in.jsonl, output_file: out.jsonl}\n",
          "serve",
              "stage: serve\nbackend: vllm\nmodel_name: m-7b\nlora_adapters: {tuned: \"${durable}/tuned\"}\n",
          "lm_eval", "backend: lm_eval\nmodel_name: m-7b\noptions: {tasks: [arc_easy]}\n");

  private static final Map<String, String> CONTAINERS =
      Map.of(
          "bare", "",
          "apptainer", "software: {container: \"${shared}/images/train.sif\"}\n",
          "pyxis",
              "software: {container: 'registry.example.org#lab/train:1', container_runtime: pyxis}\n");

  /** A backend on one node and on four, in no container and in two kinds of it. */
  static List<Arguments> matrix() {
    List<Arguments> rows = new ArrayList<>();
    for (String backend : new TreeSet<>(BACKENDS.keySet())) {
      for (int nodes : List.of(1, 4)) {
        boolean oneNode = backend.equals("vllm") || backend.equals("lm_eval");
        for (String container : new TreeSet<>(CONTAINERS.keySet())) {
          if (nodes == 1 || !oneNode) {
            rows.add(Arguments.of(backend, nodes, container));
          }
        }
      }
    }
    return rows;
  }

  @ParameterizedTest(name = "{0} on {1} nodes, {2}")
  @MethodSource("matrix")
  void everyBackendOnNodesAndInContainers(String backend, int nodes, String container) {
    Script script = matrix(backend, nodes, container);

    Golden.check(
        "render/matrix-" + backend + "-" + nodes + "-" + container + ".sbatch", script.text());
    assertThat(script.text().lines()).hasSizeLessThan(305);
  }

  /** Slurm reads the directives as it would at a submit; what runs needs its launcher, not this. */
  @ParameterizedTest(name = "{0} on {1} nodes, {2}")
  @MethodSource("matrix")
  @Tag("slurm")
  @ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
  void sbatchAcceptsEachOfThem(String backend, int nodes, String container) throws IOException {
    Path golden =
        GOLDEN
            .resolve("matrix-" + backend + "-" + nodes + "-" + container + ".sbatch")
            .toAbsolutePath();

    CommandResult answer = run(List.of("sbatch", "--test-only", golden.toString()));

    assertThat(answer.exit()).as(answer.err()).isZero();
    assertThat(answer.err()).contains("to start at").contains("on nodes n");
  }

  private static Script matrix(String backend, int nodes, String container) {
    Variant variant =
        new Variant(
            backend,
            "requeues: 1\nwarn_before_end: 5m\n" + CONTAINERS.get(container),
            ", nodes: " + nodes + ", gpus_per_node: 2, gpu_type: h100, cpus_per_task: 4",
            "");
    return render(variant, BACKENDS.get(backend));
  }

  private static final String VERSION =
      "science:\n  versions:\n    v2:\n      status: promoted\n      path: '${durable}/datasets/science it is'\n"
          + "      root: "
          + "0123456789abcdef".repeat(4)
          + "\n      bytes: 7\n      files: 1\n      newest: '2025-11-01T14:32:00.5Z'\n";

  /** Each template checks the data that the policy asks for. */
  @ParameterizedTest
  @CsvSource({"shell, 1, size", "hf, 4, sha256", "serve, 1, size"})
  void theDatasetIsChecked(String backend, int nodes, String check) {
    ConfigFolder folder =
        new ConfigFolder()
            .with("configs/clusters/mine.yaml", CLUSTER)
            .with("/durable/manifests/dataset_registry.yaml", VERSION)
            .with(
                "configs/policy.yaml",
                "approval_over: {amount: 1, currency: USD}\npromoted_datasets: true\ndataset_checksums: "
                    + check.equals("sha256")
                    + "\n")
            .with(
                "run.yaml",
                (backend.equals("serve") ? "" : "stage: train\n")
                    + BACKENDS.get(backend).replaceAll("dataset_path: .*\n", "")
                    + "dataset_path: ${durable}/datasets/science it is\n"
                    + "resources: {time: 10m, memory: 1G, gpus_per_node: 2, nodes: "
                    + nodes
                    + "}\n");

    String text = Scripts.of(folder, "run.yaml", "mine").text();

    assertThat(text)
        .contains(
            "nexa_run nexa_require_dataset science@v2 '/durable/datasets/science it is' 0123456789abcdef",
            " 1762007521 " + check + "\n");
    if (!backend.equals("serve")) {
      Golden.check("render/dataset-" + backend + ".sbatch", text);
    }
  }

  /** The digests are the program's own, which differs from build to build. */
  @ParameterizedTest
  @ValueSource(strings = {"bare", "apptainer", "pyxis"})
  void aTeacherAndTheProgramThatAsksIt(String container) {
    Variant variant =
        new Variant(
            "generate",
            "requeues: 1\nwarn_before_end: 5m\nwatchdog: 5m\narray: {shards: 4}\n"
                + CONTAINERS.get(container),
            ", gpus_per_node: 2, gpu_type: h100, cpus_per_task: 4",
            "");
    String text =
        render(
                variant,
                "stage: generate\nbackend: vllm\nmodel_name: m-7b\noptions: {max_num_seqs: 64}\n"
                    + "data: {generate: {requests: [\"${durable}/prompts\"]}}\n")
            .text();

    assertThat(text.lines()).hasSizeLessThan(320);
    Golden.check(
        "render/generate-" + container + ".sbatch", text.replaceAll("[0-9a-f]{64}", "SHA256"));
  }

  @Test
  void aJobWithGroups() {
    String group = ", cpus_per_task: 4, memory: 8G, time: 1h}\n    run: ";
    ConfigFolder folder =
        new ConfigFolder()
            .with("configs/clusters/mine.yaml", CLUSTER)
            .with(
                "run.yaml",
                "stage: train\nbackend: shell\nrequeues: 1\nretry_on: [node]\n"
                    + CONTAINERS.get("apptainer")
                    + "groups:\n  trainer:\n    resources: {gpus_per_node: 0"
                    + group
                    + "echo a\n  servers:\n    resources: {nodes: 2, gpus_per_node: 2, gpu_type: h100"
                    + group
                    + "echo b\n    env: {ROLE: it's}\n");

    Golden.check("render/groups.sbatch", Scripts.of(folder, "run.yaml", "mine").text());
  }

  @Test
  void aSyncStageAndTheProgramThatCopies() {
    Variant variant = new Variant("sync", "requeues: 2\n", ", cpus_per_task: 2", "");
    String text =
        render(
                variant,
                "stage: sync\nbackend: sync\n"
                    + "sync: {from: \"${durable}/checkpoints/a\", to: 's3://lab/${run_id}', exclude: ['*.log']}\n")
            .text();

    Golden.check("render/sync.sbatch", text.replaceAll("[0-9a-f]{64}", "SHA256"));
  }

  /** One feature each, beside a task that does nothing else. */
  static List<Variant> variants() {
    return List.of(
        new Variant("single-task", "", "", ""),
        new Variant("many-tasks", "array: {shards: 1000, max_parallel: 50}\n", "", ""),
        new Variant("requeues", "requeues: 2\n", "", ""),
        new Variant("chain", "chain: 3\n", "", ""),
        new Variant("retried", "requeues: 2\nretry_on: [signal, 75]\n", "", ""),
        new Variant(
            "grows", "requeues: 2\ngrow: {memory: {up_to: 64G}, time: {up_to: 24h}}\n", "", ""),
        new Variant("watched", "watchdog: 5m\n", "", ""),
        new Variant("scratch", "checkpoints: {on: scratch, copy_every: 5m}\n", "", ""),
        new Variant("warned", "requeues: 2\nwarn_before_end: 90s\n", "", ""),
        new Variant(
            "environment",
            "env: {GREETING: it's $HOME, OUT: \"${durable}/out\", N: 010}\n",
            "",
            ""),
        new Variant("secrets", "env_file: \"${env:HOME:-/home/ada}/.secrets\"\n", "", ""),
        new Variant("modules", "software: {modules: [cuda/12.4, gcc 13]}\n", "", ""),
        new Variant("venv", "software: {venv: /opt/my venv}\n", "", ""),
        new Variant("conda", "software: {conda: /opt/envs/train}\n", "", ""),
        new Variant("uv", "software: {uv: /projects/train}\n", "", ""),
        new Variant("container", "software: {container: \"${shared}/images/a b.sif\"}\n", "", ""),
        new Variant(
            "container-mounts",
            "software: {modules: [apptainer], container: /a.sif, mounts: [/my data, '/x:/y:ro']}\n",
            ", gpus_per_node: 1",
            ""),
        new Variant(
            "container-pyxis",
            "software: {container: 'registry.example.org#lab/train:1', container_runtime: pyxis, mounts: [/data]}\n",
            ", gpus_per_node: 1",
            ""),
        new Variant(
            "container-slurm",
            "software: {container: /bundles/train, container_runtime: slurm}\n",
            "",
            ""),
        new Variant(
            "every-option",
            "array: {shards: 4}\n",
            ", gpus_per_node: 2, gpu_type: a100, partition: gpu, account: nlp, qos: high,"
                + " constraint: 'a&b # \"c\"', reservation: maint, exclusive: true",
            "partitions: {gpu: {cpus_per_node: 8, memory_per_node: 64G, gpus_per_node: 4}}\n"),
        new Variant(
            "sweep",
            "sweep: {lr: [1e-5, 2e-5], seed: [1, 2, 3]}\narray: {max_parallel: 2}\n",
            "",
            ""),
        new Variant("setup", "setup: conda activate x\n", "", ""),
        new Variant("workdir", "workdir: \"${shared}/my repo\"\n", "", ""),
        new Variant("mail", "mail: {user: ada@example.org}\n", "", ""),
        new Variant(
            "health",
            "requeues: 1\n",
            ", gpus_per_node: 2, nodes: 2",
            "health: {scratch_free: 50G, min_driver: '550.54', interface: ib0}\n"),
        new Variant("no-health-check", "", ", gpus_per_node: 2", "health_check: false\n"));
  }

  /**
   * A variation of a small job.
   *
   * @param config lines of its config
   * @param resources more of its resources
   * @param cluster lines of its cluster profile
   */
  record Variant(String name, String config, String resources, String cluster) {
    @Override
    public String toString() {
      return name;
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("variants")
  void oneFeatureAtATime(Variant variant) {
    Golden.check(
        "render/task-" + variant + ".sbatch",
        render(variant, "backend: shell\nrun: echo\n").text());
  }

  @ParameterizedTest(name = "{0} nodes, {1} GPUs, {2} requeues{3}")
  @CsvSource({
    "1, 1, 0, ''",
    "1, 8, 1, ''",
    "2, 0, 0, ''",
    "4, 8, 2, ', container: /images/a.sif'",
  })
  void torchrunOnNodes(int nodes, int gpus, int requeues, String container) {
    Variant variant =
        new Variant(
            "ddp",
            "requeues: " + requeues + "\nsoftware: {modules: [cuda]" + container + "}\n",
            ", nodes: " + nodes + ", gpus_per_node: " + gpus + ", cpus_per_task: 16",
            "");

    Script script =
        render(variant, "backend: python\nentrypoint: {module: nexa.train}\nlr: 1e-3\n");

    Golden.check(
        "render/ddp-" + nodes + "-nodes-" + gpus + "-gpus-" + requeues + "-requeues.sbatch",
        script.text());
  }

  /** Each point's own file, beside the script that all have. */
  @Test
  void aSweepOfFlagsOfOneProgram() {
    Variant variant =
        new Variant(
            "sweep",
            "lr: 1e-3\noptions: {width: 8}\n"
                + "sweep: {method: list, points: [{lr: 2e-3}, {options.name: \"it's ${durable}/a\"},"
                + " {options.flag: true, options.width: 16}]}\n",
            ", nodes: 2",
            "");
    Script script =
        render(variant, "backend: python\nentrypoint: {module: nexa.train, config: false}\n");

    Golden.check("render/ddp-sweep.sbatch", script.text());
    StringBuilder files = new StringBuilder();
    for (RunnerFile file : script.files()) {
      if (!file.name().endsWith("/point.env")) {
        continue;
      }
      files.append("# ").append(file.name()).append('\n');
      files.append(new String(file.content(), StandardCharsets.UTF_8)).append('\n');
    }
    Golden.check("points/ddp-sweep.txt", files.toString());
  }

  @Test
  void aSweepFileOfNexaCompute() {
    ConfigFolder folder =
        new ConfigFolder()
            .with(
                "sweep.yaml",
                DurableFiles.read(Path.of("src/test/resources/nexa-compute/sweep.yaml")))
            .with("scripts/train.py", "print()")
            .with("configs/clusters/mine.yaml", CLUSTER);

    Golden.check("render/nexa-compute.sbatch", Scripts.of(folder, "sweep.yaml", "mine").text());
  }

  private static Script render(Variant variant, String backend) {
    ConfigFolder folder =
        new ConfigFolder()
            .with(
                "run.yaml",
                (backend.startsWith("stage:") ? "" : "stage: data\n")
                    + backend
                    + variant.config()
                    + "resources: {time: 10m, memory: 1G"
                    + variant.resources()
                    + "}\n")
            .with("configs/clusters/mine.yaml", CLUSTER + variant.cluster());
    return Scripts.of(folder, "run.yaml", "mine");
  }

  @Test
  void shellcheckFindsNothingInAnyOfThem() throws IOException {
    List<String> argv = new ArrayList<>(List.of("shellcheck", "--shell=bash", "--format=gcc"));
    try (Stream<Path> files = Files.list(GOLDEN)) {
      files.map(Path::toString).sorted().forEach(argv::add);
    }
    assertThat(argv).hasSizeGreaterThan(60);
    for (String script :
        List.of(
            "check_node",
            "check_uv",
            "attempt",
            "first_failure",
            "rank",
            "watchdog",
            "nexa_storage")) {
      argv.add("templates/lib/" + script + ".sh");
    }

    CommandResult result;
    try {
      result = run(argv);
    } catch (IOException notInstalled) {
      assertThat(System.getenv("CI")).as("in CI shellcheck is installed").isNotEqualTo("true");
      assumeTrue(false, "shellcheck is not installed");
      return;
    }

    assertThat(result.out()).isEmpty();
    assertThat(result.exit()).isZero();
  }

  @Test
  void everyScriptDoesAllItsWorkOnItsLastLine() throws IOException {
    try (Stream<Path> files = Files.list(GOLDEN)) {
      for (Path file : files.toList()) {
        List<String> lines = Files.readAllLines(file);
        assertThat(lines.get(lines.size() - 1)).as("%s", file).isEqualTo("{ nexa_main \"$@\"; }");
        String half = String.join("\n", lines.subList(0, lines.size() - 1));
        assertThat(run(List.of("bash", "-c", half)))
            .as("%s without its last line", file)
            .isEqualTo(new CommandResult(0, "", "", false));
      }
    }
  }

  /** Seen once in some 3000 times: a task that ends on the node takes the run's empty folder. */
  @Test
  void aFolderThatGoesWhileMkdirWorksIsMadeAgain(@TempDir Path scratch) throws IOException {
    List<String> lines = Files.readAllLines(GOLDEN.resolve("task-no-health-check.sbatch"));
    String functions = String.join("\n", lines.subList(0, lines.size() - 1));
    String race =
        """

        source <(sed -n '/^nexa_make_folders/,/^}/p' templates/lib/nexa_storage.sh)
        NEXA_RUN_SCRATCH=$1/run NEXA_TASK_SCRATCH=$1/run/task_0 NEXA_RANKS_SCRATCH=$1/run
        NEXA_DURABLE=$1 NEXA_SHARED=$1 NEXA_ATTEMPT=$1/attempt SLURMD_NODENAME=n1
        calls=0
        mkdir() {
          ((++calls > 1)) && command mkdir "$@"
        }
        nexa_check_node
        """;

    CommandResult result = run(List.of("bash", "-c", functions + race, "bash", scratch.toString()));

    assertThat(result).isEqualTo(new CommandResult(0, "nexa-slurm: node n1 is well\n", "", false));
  }

  @Test
  void theSamePlanRendersTheSameBytes() {
    Script one = Scripts.of(new ConfigFolder(), "configs/train/science.yaml", "default");
    Script two = Scripts.of(new ConfigFolder(), "configs/train/science.yaml", "default");

    assertThat(one.bytes()).isEqualTo(two.bytes());
    assertThat(one.digest()).isEqualTo(two.digest()).hasSize(64);
  }

  @Test
  void theDigestCoversTheScriptAndEveryFileBesideIt() {
    String lines = "stage: a\nbackend: shell\nresources: {time: 1m}\nfiles: [a.txt]\nrun: ";
    ConfigFolder folder =
        new ConfigFolder()
            .with("run.yaml", lines + "echo 1\n")
            .with("other.yaml", lines + "echo 2\n")
            .with("a.txt", "a")
            .with("configs/clusters/mine.yaml", CLUSTER);
    Script script = Scripts.of(folder, "run.yaml", "mine");

    assertThat(Scripts.of(folder, "other.yaml", "mine"))
        .returns(script.text(), Script::text)
        .satisfies(other -> assertThat(other.digest()).isNotEqualTo(script.digest()));
    assertThat(Scripts.of(folder, "run.yaml", "mine", "resources.time=2m").digest())
        .isNotEqualTo(script.digest());
    folder.with("a.txt", "b");
    assertThat(Scripts.of(folder, "run.yaml", "mine").digest()).isNotEqualTo(script.digest());
  }

  @Test
  void filesBesideTheScriptHaveNamesOfTheirOwn() {
    ConfigFolder folder =
        new ConfigFolder()
            .with("a/x.txt", "one")
            .with("b/x.txt", "two")
            .with("c/x.txt", "one")
            .with("run.sh", "mine")
            .with("configs/clusters/mine.yaml", CLUSTER)
            .with("run.yaml", "stage: a\nbackend: shell\nresources: {time: 1m}\nrun: echo\n");

    assertThat(Scripts.of(folder, "run.yaml", "mine", "files=[a/x.txt, c/x.txt]").files())
        .extracting(RunnerFile::name)
        .containsExactly(
            "x.txt",
            "run.sh",
            "nexa_storage.sh",
            "snapshot.sh",
            "check_node.sh",
            "attempt.sh",
            "first_failure.sh",
            "failures.tsv");
    assertThatThrownBy(() -> Scripts.of(folder, "run.yaml", "mine", "files=[a/x.txt, b/x.txt]"))
        .hasMessageEndingWith("run.yaml: files: two different files would be runner/x.txt");
    assertThatThrownBy(() -> Scripts.of(folder, "run.yaml", "mine", "files=[run.sh]"))
        .hasMessageEndingWith("run.yaml: files: two different files would be runner/run.sh");
  }

  private static CommandResult run(List<String> argv) throws IOException {
    Map<String, String> environment = Map.of("PATH", System.getenv("PATH"), "LC_ALL", "C.UTF-8");
    return new CommandRunner()
        .run(new Command(argv, environment, Path.of("").toAbsolutePath(), Duration.ofMinutes(5)));
  }

  /** A step's shell knows only what is exported: also what an exported function calls. */
  @Test
  void aFunctionThatIsExportedToTheNodesCallsOnlyExportedOnes() throws IOException {
    Map<String, String> shared = new HashMap<>();
    try (Stream<Path> files = Files.list(Path.of("templates/lib"))) {
      for (Path file : files.filter(one -> one.toString().endsWith(".sh")).toList()) {
        shared.putAll(functions(Files.readString(file)));
      }
    }
    List<String> missing = new ArrayList<>();
    try (Stream<Path> scripts = Files.list(GOLDEN)) {
      for (Path script : scripts.filter(one -> one.toString().endsWith(".sbatch")).toList()) {
        String text = Files.readString(script);
        Map<String, String> functions = new HashMap<>(shared);
        functions.putAll(functions(text));
        Matcher line = Pattern.compile("(?m)^ *export -f (.*)$").matcher(text);
        while (line.find()) {
          List<String> exported = List.of(line.group(1).split(" "));
          for (String name : exported) {
            Matcher call = Pattern.compile("\\bnexa_\\w+").matcher(functions.get(name));
            while (call.find()) {
              if (functions.containsKey(call.group()) && !exported.contains(call.group())) {
                missing.add(script.getFileName() + ": " + name + " calls " + call.group());
              }
            }
          }
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  /** The functions of a script and their bodies, without comments. */
  private static Map<String, String> functions(String script) {
    Map<String, String> functions = new HashMap<>();
    Matcher function = Pattern.compile("(?ms)^(nexa_\\w+)\\(\\) \\{\\n(.*?)^\\}").matcher(script);
    while (function.find()) {
      functions.put(function.group(1), function.group(2).replaceAll("(?m)^ *#.*$", ""));
    }
    return functions;
  }
}
