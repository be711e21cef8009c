package dev.nexa.slurm.job.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.backend.PlanDecides.Rule;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the plan decides, options may repeat and not contradict, whichever way they come in. */
class PlanDecidesTest {
  private static final String CLUSTER =
      "gpu_type: h100\nstorage: {scratch: /scratch, durable: /durable, shared: /shared}\n";
  private static final String TRAIN =
      "stage: train\nmodel_name: m-7b\ndataset_path: d\nrequeues: 1\n";
  private static final String TWO = "resources: {nodes: 2, gpus_per_node: 4, time: 1h}\n";
  private static final String ONE = "resources: {gpus_per_node: 4, time: 1h}\n";

  /** A backend with the path of its options, and the rest of a config that it accepts. */
  record Runner(String name, String path, String config, String file) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static final List<Runner> RUNNERS =
      List.of(
          new Runner(
              "accelerate",
              "options.accelerate",
              TRAIN + "backend: acc\n" + TWO,
              "mixed_precision: bf16\n"),
          new Runner("axolotl", "options", TRAIN + "backend: ax\n" + TWO, "base_model: m\n"),
          new Runner("trl", "options", TRAIN + "backend: hf\n" + TWO, "packing: true\n"),
          new Runner("vllm", "options", "stage: serve\nbackend: vllm\nmodel_name: m\n" + TWO, ""),
          new Runner(
              "lm_eval",
              "options",
              "stage: eval\nbackend: lm_eval\nmodel_name: m\n" + ONE + "options: {tasks: [a]}\n",
              ""));

  /** One key of a table. */
  record Key(Runner runner, String key, Rule rule) {
    @Override
    public String toString() {
      return runner + " " + key;
    }
  }

  static List<Key> keys() {
    List<Key> keys = new ArrayList<>();
    for (Runner runner : RUNNERS) {
      Plan plan = plan(runner.config(), "");
      new PlanDecides(plan, new ArrayList<>())
          .rules(runner.name())
          .forEach((key, rule) -> keys.add(new Key(runner, key, rule)));
    }
    return keys;
  }

  @ParameterizedTest
  @MethodSource("keys")
  void anotherValueIsAProblemWhicheverWayItComesIn(Key key) {
    for (String other : List.of("977", "\"977\"", "[3]", "{a: 1}", "elsewhere", "\"/other\"")) {
      String value = other.equals("{a: 1}") && key.key().contains(".") ? "977" : other;
      String where = key.runner().path() + "." + key.key();
      assertThat(problems(key.runner().config(), "", where + "=" + value))
          .as("--set %s=%s", where, value)
          .anyMatch(problem -> problem.contains(key.key()) || problem.contains(last(key.key())));
      if (!key.runner().file().isEmpty()) {
        String file = key.runner().file() + nested(key.key(), value);
        List<String> found = problems(key.runner().config() + "options_file: own.yaml\n", file);
        if (key.rule().place()) {
          assertThat(found).as("a place in a file is replaced: %s", file).isEmpty();
        } else {
          assertThat(found).as(file).anyMatch(problem -> problem.contains("own.yaml:2:"));
        }
      }
    }
  }

  /** The plan's own value, empty, or as text: the job is the same as without the key. */
  @ParameterizedTest
  @MethodSource("keys")
  void thePlansOwnValueChangesNothing(Key key) {
    Runner runner = key.runner();
    List<String> same = new ArrayList<>(List.of("null"));
    for (String value : key.rule().values()) {
      same.add(value.matches("[0-9]+|true|false") ? value : "\"" + value + "\"");
      same.add("\"" + value + "\"");
    }
    boolean choice = key.rule().values().size() > 1 && !key.rule().place();
    for (String value : same) {
      String where = runner.path() + "." + key.key() + "=" + value;
      assertThat(problems(runner.config(), "", where)).as(where).isEmpty();
      if (!choice) {
        assertThat(launched(plan(runner.config(), "", where)))
            .isEqualTo(launched(plan(runner.config(), "")));
      }
      if (!runner.file().isEmpty()) {
        String config = runner.config() + "options_file: own.yaml\n";
        String file = runner.file() + nested(key.key(), value);
        assertThat(problems(config, file)).as(file).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("keys")
  void aSweepMayNotVaryIt(Key key) {
    String sweep = "sweep: {" + key.runner().path() + "." + key.key() + ": [977, 978]}\n";

    assertThat(problems(key.runner().config().replace("stage: serve", "stage: x") + sweep, ""))
        .isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          hf     | WORLD_SIZE: "4"             | env.WORLD_SIZE: is '4', but the plan has 8; change resources.gpus_per_node instead
          ax     | RANK: "0"                   | env.RANK: is '0', but the plan has each rank's own; leave it out
          acc    | LOCAL_RANK: "0"             | env.LOCAL_RANK
          hf     | NODE_RANK: "1"              | env.NODE_RANK
          hf     | MASTER_ADDR: localhost      | env.MASTER_ADDR
          acc    | MASTER_PORT: "29500"        | env.MASTER_PORT: is '29500', but the plan has the job's own port
          ax     | PET_NPROC_PER_NODE: "2"     | env.PET_NPROC_PER_NODE
          ax     | PET_NNODES: "1"             | env.PET_NNODES
          hf     | PET_RDZV_ENDPOINT: a        | env.PET_RDZV_ENDPOINT
          hf     | CUDA_VISIBLE_DEVICES: "0,1" | env.CUDA_VISIBLE_DEVICES: is '0,1', but the plan has 4 GPUs on each node; change resources.gpus_per_node instead
          ax     | NVIDIA_VISIBLE_DEVICES: none | env.NVIDIA_VISIBLE_DEVICES
          acc    | SLURM_NNODES: "1"           | env.SLURM_NNODES
          """)
  void theEnvironmentMayNotContradictIt(String backend, String variable, String message) {
    String config = TRAIN + "backend: " + backend + "\n" + TWO;

    assertThat(problems(config + "env: {" + variable + "}\n", ""))
        .anyMatch(problem -> problem.contains("run.yaml") && problem.contains(message));
    String[] parts = variable.split(": ", 2);
    assertThat(problems(config, "", "env." + parts[0] + "=" + parts[1]))
        .anyMatch(problem -> problem.contains(parts[0]));
  }

  @Test
  void theEnvironmentMayRepeatIt() {
    String same =
        "env: {WORLD_SIZE: \"8\", LOCAL_WORLD_SIZE: \"4\", CUDA_VISIBLE_DEVICES: \"0,1,2,3\", A: b}\n";

    assertThat(problems(TRAIN + "backend: hf\n" + TWO + same, "")).isEmpty();
    assertThat(
            problems(
                "stage: a\nbackend: shell\nrun: x\nenv: {CUDA_VISIBLE_DEVICES: \"\", MASTER_PORT: \"1\"}\n"
                    + "resources: {time: 1h}\n",
                ""))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          script: a.py, launcher_args: [--nnodes=1]               | --nnodes is '1', but the plan has 2; change resources.nodes instead
          script: a.py, launcher_args: [--nproc-per-node, "2"]    | --nproc-per-node is '2', but the plan has 4
          script: a.py, launcher_args: [--master_port=29500]      | --master_port is '29500'
          script: a.py, launcher_args: [--rdzv-endpoint, "a:1"]   | --rdzv-endpoint is 'a:1'
          script: a.py, launcher_args: [--node_rank=0]            | --node_rank is '0'
          script: a.py, launcher_args: [--standalone]             | --standalone is 'true'
          module: torch.distributed.run, args: [a.py]             | torch.distributed.run starts ranks itself
          module: accelerate.commands.launch, args: [a.py]        | accelerate.commands.launch starts ranks itself
          module: torch.distributed.run, launcher: python, args: [--nnodes, "1"]  | --nnodes is '1'
          module: accelerate.commands.launch, launcher: python, args: [--num_processes=4] | --num_processes is '4'
          """)
  void aLaunchersArgumentsMayNotContradictIt(String entrypoint, String message) {
    String config = "stage: train\nbackend: python\nentrypoint: {" + entrypoint + "}\n" + TWO;

    assertThat(problems(config, "")).anyMatch(problem -> problem.contains(message));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ax  | tensor_parallel_size: 3                               | which does not divide the 8 ranks
          ax  | {tensor_parallel_size: 2, dp_shard_size: 2}           | which is not the 8 ranks
          ax  | tensor_parallel_size: many                            | is not a number of GPUs
          hf  | vllm_tensor_parallel_size: 3                          | does not divide the 8 ranks
          acc | accelerate: {parallelism_config: {parallelism_config_tp_size: 4}} | which is not the 8 ranks
          acc | accelerate: {megatron_lm_config: {megatron_lm_tp_degree: 3}}      | which does not divide the 8 ranks
          """)
  void sizesMustComeToTheRanks(String backend, String options, String message) {
    String written = options.startsWith("{") ? options : "{" + options + "}";
    String distils = options.contains("vllm") ? "use_kd: true\nteacher_model: t\n" : "";
    String config = TRAIN + distils + "backend: " + backend + "\n" + TWO;

    assertThat(problems(config + "options: " + written + "\n", ""))
        .anyMatch(problem -> problem.contains(message));
  }

  @Test
  void theErrorNamesFileLineKeyValueAndWhatToChange() {
    assertThatThrownBy(
            () ->
                launched(
                    plan(
                        TRAIN + "backend: acc\noptions_file: own.yaml\n" + TWO,
                        "distributed_type: FSDP\nnum_machines: 2\nnum_processes: 16\n")))
        .hasMessageContaining(
            "own.yaml:3:1: num_processes: is '16', but the plan has 8; change resources.gpus_per_node instead");
  }

  // ---- helpers

  private static String last(String key) {
    return key.substring(key.lastIndexOf('.') + 1);
  }

  private static String nested(String key, String value) {
    int dot = key.indexOf('.');
    return dot < 0
        ? key + ": " + value + "\n"
        : key.substring(0, dot) + ": {" + key.substring(dot + 1) + ": " + value + "}\n";
  }

  private static Plan plan(String config, String file, String... overrides) {
    return Plans.of(
        new ConfigFolder()
            .with("run.yaml", config)
            .with("a.py", "")
            .with("own.yaml", file.isEmpty() ? "a: 1\n" : file)
            .with("configs/clusters/mine.yaml", CLUSTER),
        overrides);
  }

  private static List<String> problems(String config, String file, String... overrides) {
    try {
      launched(plan(config, file, overrides));
      return List.of();
    } catch (ConfigException wrong) {
      return wrong.problems().stream().map(Problem::toString).toList();
    } catch (NexaException wrong) {
      return List.of(String.valueOf(wrong.getMessage()));
    }
  }

  private static List<String> launched(Plan plan) {
    Launch launch = Backends.launch(plan, Backends.builtIn(plan.backend()).orElseThrow());
    List<String> all = new ArrayList<>(launch.command());
    for (RunnerFile file : launch.files()) {
      all.add(file.name() + "\n" + new String(file.content(), StandardCharsets.UTF_8));
    }
    return all;
  }

  @Test
  void theTablesHoldEveryRunner() {
    assertThat(keys()).hasSizeGreaterThan(45);
    assertThat(Map.of()).isEmpty();
  }
}
