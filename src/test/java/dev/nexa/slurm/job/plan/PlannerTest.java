package dev.nexa.slurm.job.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.site.NodeSharing;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlannerTest {
  private static final String RUN = "stage: data\nbackend: shell\nrun: echo\n";
  private static final String PARTITIONS =
      """
      default_partition: cpu
      partitions:
        cpu: {}
        gpu: {exclusive: true, cpus_per_node: 96, gpus_per_node: 8, gpu_type: h100, memory_per_node: 1T}
        sized: {cpus_per_node: 64, memory_per_node: 512G, gpus_per_node: 0}
      """;

  /** Nexa_Compute's own example sets two of them. */
  @Test
  void aTiersVariableIsTakenWhereItEqualsTheProfilesAndNotedWhereNot() {
    String env = "env: {NEXA_SCRATCH: /scratch, NEXA_DURABLE: /mnt/other, A: b}\n";

    Plan plan = Plans.of(RUN + "resources: {time: 10m}\n" + env, Plans.CLUSTER);

    assertThat(plan.environment().env()).containsExactly(Map.entry("A", "b"));
    assertThat(plan.notes()).hasSize(1);
    assertThat(plan.notes().get(0))
        .startsWith("env.NEXA_DURABLE: /mnt/other is not used")
        .contains(
            "mine has /durable; to change it, write storage.durable in configs/clusters/mine");
  }

  @Test
  void whatTheConfigLeavesOutComesFromTheCluster() {
    Plan plan =
        Plans.of(
            RUN + "resources: {time: 10m, gpus_per_node: 2}\nenv: {B: own}\n",
            Plans.CLUSTER
                + """
                default_partition: gpu
                account: nlp
                qos: high
                gpu_type: h100
                env: {A: theirs, B: theirs}
                software: {modules: [cuda], venv: /opt/venv}
                """);

    assertThat(plan.allocation().partition()).contains("gpu");
    assertThat(plan.allocation().account()).contains("nlp");
    assertThat(plan.allocation().option(ResourceOption.QOS)).contains("high");
    assertThat(plan.allocation().gpuType()).contains("h100");
    assertThat(plan.environment().env())
        .containsExactly(Map.entry("A", "theirs"), Map.entry("B", "own"));
    assertThat(plan.environment().software().modules()).containsExactly("cuda");
    assertThat(plan.environment().software().venv()).contains("/opt/venv");
  }

  @Test
  void theTasksOfASweepAreItsPointsAndEachIsAPlanOfItsOwn() {
    Plan plan =
        Plans.of(
            "stage: train\nbackend: python\nentrypoint: {module: m}\n"
                + "resources: {time: 10m}\nlr: 1e-3\nseed: 9\noptions: {a: {b: 1, c: 2}, d: 3}\n"
                + "sweep: {lr: [1e-5, 2e-5], options.a.b: [x, y, z]}\narray: {max_parallel: 2}\n",
            Plans.CLUSTER);

    assertThat(plan.tasks()).isEqualTo(6);
    assertThat(plan.shape().array().maxParallel()).contains(2);
    assertThat(PlanFile.of(plan).json().objects("points")).hasSize(6);
    assertThat(plan.trainingJson()).hasToString("{\"lr\":0.001,\"seed\":9}");
    assertThat(plan.at(4).trainingJson()).hasToString("{\"lr\":0.00002,\"seed\":9}");
    assertThat(plan.at(4).options()).hasToString("{\"a\":{\"b\":\"y\",\"c\":2},\"d\":3}");
    assertThat(plan.options()).hasToString("{\"a\":{\"b\":1,\"c\":2},\"d\":3}");
    assertThat(plan.at(4).written().problem("options.a.b", "x").key())
        .isEqualTo("sweep.options.a.b");
  }

  @Test
  void aRunMayHaveMoreTasksThanOneArrayHolds() {
    Plan plan =
        Plans.of(
            RUN + "resources: {time: 10m}\nsweep: {seed: [1, 2, 3]}\n",
            Plans.CLUSTER + "slurm: {max_array_size: 2}\n");

    assertThat(plan.tasks()).isEqualTo(3);
    assertThat(plan.site().maxArraySize()).isEqualTo(2);
  }

  @Test
  void aProgramStartedByPythonAloneHasOneRankWhateverGpusItHas() {
    String run =
        "stage: a\nbackend: python\nentrypoint: {module: m, launcher: %s}\n"
            + "resources: {time: 1h, nodes: %d, gpus_per_node: %d, gpu_type: h100}\n";

    assertThat(Plans.of(run.formatted("python", 1, 4), Plans.CLUSTER).shape().ranksPerNode())
        .isZero();
    assertThat(Plans.of(run.formatted("python", 2, 4), Plans.CLUSTER).shape().ranksPerNode())
        .isEqualTo(1);
    assertThat(Plans.of(run.formatted("torchrun", 2, 4), Plans.CLUSTER).shape().ranksPerNode())
        .isEqualTo(4);
    assertThat(
            Plans.of(run.formatted("torchrun", 1, 0).replace(", gpu_type: h100", ""), Plans.CLUSTER)
                .shape()
                .ranksPerNode())
        .isEqualTo(1);
  }

  @Test
  void whatTheConfigSaysWins() {
    Plan plan =
        Plans.of(
            RUN
                + """
                resources: {time: 10m, partition: cpu, account: own, qos: low}
                software: {modules: [gcc]}
                """,
            Plans.CLUSTER
                + "account: nlp\nqos: high\nsoftware: {modules: [cuda], venv: /opt/venv}\n");

    assertThat(plan.allocation().partition()).contains("cpu");
    assertThat(plan.allocation().account()).contains("own");
    assertThat(plan.allocation().option(ResourceOption.QOS)).contains("low");
    assertThat(plan.environment().software().modules()).containsExactly("gcc");
    assertThat(plan.environment().software().venv()).contains("/opt/venv");
  }

  @Test
  void memoryIsFourGibibytesForEachCpuWhereNotGiven() {
    assertThat(
            Plans.of(RUN + "resources: {time: 1m, cpus_per_task: 3}\n", Plans.CLUSTER).allocation())
        .returns(12L << 30, Allocation::memoryBytes);
  }

  @Test
  void onACpuClusterRanksStayAndGpusAreNotAskedFor() {
    Plan plan =
        Plans.of(
            RUN + "resources: {time: 1m, nodes: 2, gpus_per_node: 4, gpu_type: h100}\n",
            Plans.CLUSTER + "accelerator: cpu\n");

    assertThat(plan.shape().ranksPerNode()).isEqualTo(4);
    assertThat(plan.allocation().gpusPerNode()).isZero();
    assertThat(plan.allocation().gpuType()).isEmpty();
    assertThat(plan.billed().gpus()).isZero();
  }

  @ParameterizedTest(name = "{0} nodes with {1} GPUs: {2} ranks on each")
  @CsvSource({"1, 0, 0", "1, 1, 1", "1, 8, 8", "2, 0, 1", "2, 4, 4"})
  void aTaskIsDistributedOverGpusOrNodes(int nodes, int gpus, int ranks) {
    String resources = "{time: 1m, nodes: " + nodes + ", gpus_per_node: " + gpus + "}\n";

    assertThat(Plans.of(RUN + "resources: " + resources, Plans.CLUSTER + "gpu_type: h100\n"))
        .returns(ranks, plan -> plan.shape().ranksPerNode());
  }

  @Test
  void aPolicyMayAskForRegisteredDatasets() {
    ConfigFolder folder =
        new ConfigFolder()
            .with("configs/clusters/mine.yaml", Plans.CLUSTER)
            .with(
                "configs/policy.yaml",
                "approval_over: {amount: 1, currency: USD}\nregistered_datasets: true\n")
            .with(
                "run.yaml",
                RUN + "dataset_path: /data/science_v2.parquet\nresources: {time: 1m}\n");
    String where = "run.yaml:4:15: dataset_path: 'science_v2' is not registered in ";

    assertThatThrownBy(() -> Plans.of(folder))
        .hasMessageEndingWith(
            where
                + "/durable/manifests/dataset_registry.yaml, which does not exist; /home/ada/science/configs/policy.yaml"
                + " asks for that (registered_datasets)");
    folder.with("/durable/manifests/dataset_registry.yaml", "science_v1: {rows: 7}\n");
    assertThatThrownBy(() -> Plans.of(folder))
        .hasMessageContaining(
            where + "/durable/manifests/dataset_registry.yaml (did you mean 'science_v1'?); ");
    folder.with("/durable/manifests/dataset_registry.yaml", "science_v2: {rows: 7}\n");
    assertThat(Plans.of(folder).inputs().dataset()).contains("science_v2");
  }

  private static final String ROOT = "0123456789abcdef".repeat(4);

  private static String version(String number, String path, String status) {
    return "    "
        + number
        + ":\n      status: "
        + status
        + "\n      path: '"
        + path
        + "'\n      root: "
        + ROOT
        + "\n      bytes: 7\n      files: 1\n      newest: '2025-11-01T14:32:00Z'\n";
  }

  /** The registry has two versions at one path, and one of another dataset. */
  private static ConfigFolder registered(String rule, String config) {
    return new ConfigFolder()
        .with("configs/clusters/mine.yaml", Plans.CLUSTER)
        .with(
            "configs/policy.yaml",
            "approval_over: {amount: 1, currency: USD}\n" + rule + ": true\n")
        .with(
            "/durable/manifests/dataset_registry.yaml",
            "old: {rows: 7}\nscience:\n  versions:\n"
                + version("v1", "${durable}/datasets/science", "promoted")
                + version("v2", "${durable}/datasets/science", "registered")
                + version("v3", "${durable}/datasets/gone", "retired")
                + "raw:\n  versions:\n"
                + version("v1", "${shared}/raw", "registered"))
        .with("run.yaml", RUN + config + "resources: {time: 1m}\n");
  }

  @ParameterizedTest(name = "{0}: {1} is {2}")
  @CsvSource({
    "promoted_datasets, ${durable}/datasets/science, science@v1",
    "promoted_datasets, /durable//datasets/science/, science@v1",
    "promoted_datasets, /durable/datasets/science/part-0.parquet, science@v1",
    "promoted_datasets, /durable/datasets/science/*.parquet, science@v1",
    "promoted_datasets, /durable/datasets/science2, is not registered",
    "promoted_datasets, /durable/datasets/science/../other, is not registered",
    "promoted_datasets, /data/science, has no version with the path /data/science",
    "promoted_datasets, /data/old, has no version",
    "promoted_datasets, ${shared}/raw, 'raw@v1' is registered, not promoted",
    "promoted_datasets, ${durable}/datasets/gone, 'science@v3' is retired",
    "registered_datasets, ${durable}/datasets/science, science@v1",
    "registered_datasets, ${shared}/raw/x, raw@v1",
    "registered_datasets, /data/old, ''",
    "registered_datasets, ${durable}/datasets/gone, 'science@v3' is retired",
    "registered_datasets, org/science, 'science' has no version with the path org/science",
    "registered_datasets, /durable//datasets/science, science@v1",
    "registered_datasets, /durable/datasets/secret, is not registered",
    "registered_datasets, org/other, is not registered",
  })
  void thePathDecidesWhichVersionARunReads(String rule, String path, String expected) {
    ConfigFolder folder = registered(rule, "dataset_path: '" + path + "'\n");

    if (expected.contains(" ")) {
      assertThatThrownBy(() -> Plans.of(folder)).hasMessageContaining(expected);
    } else {
      assertThat(Plans.of(folder).inputs().datasets().stream().map(version -> version.reference()))
          .isEqualTo(expected.isEmpty() ? List.of() : List.of(expected));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"science", "old"})
  void aLabelDoesNotRegisterAnotherPath(String label) {
    ConfigFolder folder =
        registered(
            "registered_datasets",
            "dataset: " + label + "\ndataset_path: /durable/datasets/secret\n");

    assertThatThrownBy(() -> Plans.of(folder))
        .hasMessageContaining(
            "'" + label + "' has no version with the path /durable/datasets/secret in ");
  }

  @Test
  void eachPointOfASweepReadsRegisteredData() {
    String sweep = "sweep: {dataset_path: [/durable/datasets/science, %s]}\n";

    assertThat(
            Plans.of(registered("registered_datasets", sweep.formatted("/shared/raw")))
                .inputs()
                .datasets())
        .extracting(version -> version.reference())
        .containsExactly("science@v1", "raw@v1");
    assertThatThrownBy(
            () -> Plans.of(registered("registered_datasets", sweep.formatted("/data/x"))))
        .hasMessageContaining("'x' is not registered");
  }

  /** An approval signs the digest of the plan. */
  @Test
  void theDigestOfThePlanCoversTheData() {
    String config = "dataset_path: /durable/datasets/science\n";
    ConfigFolder before = registered("promoted_datasets", config);
    String digest = Plans.of(before).digest();
    ConfigFolder after =
        before.with(
            "/durable/manifests/dataset_registry.yaml",
            "science:\n  versions:\n"
                + version("v1", "${durable}/datasets/science", "promoted").replace("0123", "9999"));

    assertThat(Plans.of(registered("promoted_datasets", config)).digest()).isEqualTo(digest);
    assertThat(Plans.of(after).digest()).isNotEqualTo(digest);
  }

  @Test
  void whatIsAskedForIsBilledOnSharedNodes() {
    assertThat(
            Plans.of(
                RUN + "resources: {time: 1m, nodes: 2, cpus_per_task: 8, memory: 64G}\n",
                Plans.CLUSTER + PARTITIONS))
        .returns(new BilledResources(16, 128L << 30, 0, Optional.empty(), false, ""), Plan::billed);
  }

  @Test
  void wholeNodesAreBilledInAnExclusivePartitionWhateverIsAskedFor() {
    assertThat(
            Plans.of(
                RUN + "resources: {time: 1m, nodes: 2, cpus_per_task: 1, partition: gpu}\n",
                Plans.CLUSTER + PARTITIONS))
        .returns(
            new BilledResources(
                192,
                8L << 30,
                16,
                Optional.of("h100"),
                true,
                "the job gets whole nodes and pays for them: 16 h100 and 192 CPUs"),
            Plan::billed);
  }

  @Test
  void wholeNodesAreBilledToAJobThatAsksForThem() {
    assertThat(
            Plans.of(
                RUN + "resources: {time: 1m, exclusive: true, partition: sized}\n",
                Plans.CLUSTER + PARTITIONS))
        .returns(
            new BilledResources(
                64,
                4L << 30,
                0,
                Optional.empty(),
                true,
                "the job gets the whole node and pays for it: 64 CPUs"),
            Plan::billed);
  }

  @Test
  void aWholeNodeIsTheLargestOfTheNodes() {
    Plan plan =
        Plans.of(
            RUN + "resources: {time: 1m, exclusive: true, partition: mixed}\n",
            Plans.CLUSTER
                + "gpu_type: h100\npartitions: {mixed: {cpus_per_node: 16, memory_per_node: 64G,"
                + " most_cpus_per_node: 64, most_gpus_per_node: 4}}\n");

    assertThat(plan.billed().cpus()).isEqualTo(64);
    assertThat(plan.billed().gpus()).isEqualTo(4);
  }

  @ParameterizedTest(name = "{0} CPUs and {1} on {2} nodes of {3}: {4} CPUs")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          1 | 16G   | 1 | max_memory_per_cpu: 4000M | 5  | 16 GiB needs 5 CPUs here: MaxMemPerCPU is 4000 MB on partition lean
          5 | 16G   | 1 | max_memory_per_cpu: 4000M | 5  | ''
          1 | 4000M | 1 | max_memory_per_cpu: 4000M | 1  | ''
          1 | 4001M | 1 | max_memory_per_cpu: 4000M | 2  | 3.9 GiB needs 2 CPUs here: MaxMemPerCPU is 4000 MB on partition lean
          3 | 1G    | 1 | cpus_multiple_of: 2       | 4  | Slurm gives CPUs in multiples of 2: 4
          4 | 1G    | 1 | cpus_multiple_of: 2       | 4  | ''
          3 | 1G    | 3 | cpus_multiple_of: 2       | 12 | Slurm gives CPUs in multiples of 2: 4, on each node
          1 | 16G   | 1 | max_memory_per_cpu: 4000M, cpus_multiple_of: 2 | 6 | 16 GiB needs 5 CPUs here: MaxMemPerCPU is 4000 MB on partition lean; Slurm gives CPUs in multiples of 2: 6
          """)
  void whatSlurmGivesBeyondWhatIsAskedForIsBilled(
      int cpus, String memory, int nodes, String partition, int billed, String why) {
    Plan plan =
        Plans.of(
            RUN
                + "resources: {time: 1m, cpus_per_task: %d, memory: %s, nodes: %d}\n"
                    .formatted(cpus, memory, nodes),
            Plans.CLUSTER
                + "default_partition: lean\npartitions: {lean: {"
                + partition
                + ", cpus_per_node: 64, gpus_per_node: 0}}\n");

    assertThat(plan.billed().cpus()).isEqualTo(billed);
    assertThat(plan.billed().why()).isEqualTo(why);
  }

  @Test
  void memoryThatNeedsMoreCpusThanANodeHasIsRefused() {
    assertProblems(
        RUN + "resources: {time: 1m, memory: 64G, partition: lean}\n",
        Plans.CLUSTER + "partitions: {lean: {max_memory_per_cpu: 4000M, cpus_per_node: 16}}\n",
        "run.yaml:4:31: resources.memory: 64 GiB needs 17 CPUs here: MaxMemPerCPU is 4000 MB on"
            + " partition lean; partition 'lean' has 16 CPUs on a node");
  }

  /** Slurm is believed over the profile; of several partitions the dearest counts. */
  @Test
  void whatSlurmSaysNowReplacesWhatTheProfileSays() {
    Plan plan =
        Plans.of(
            RUN + "resources: {time: 1m, cpus_per_task: 3, memory: 16G, partition: lean}\n",
            Plans.CLUSTER + "partitions: {lean: {cpus_multiple_of: 8, cpus_per_node: 64}}\n");
    NodeSharing cores =
        new NodeSharing(
            false, 2, Optional.empty(), Optional.of(64), Optional.of(8), Optional.empty(), 0);
    NodeSharing lean =
        new NodeSharing(
            false,
            1,
            Optional.of(2L << 30),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            0);
    NodeSharing whole =
        new NodeSharing(
            true, 1, Optional.empty(), Optional.of(64), Optional.of(8), Optional.empty(), 0);

    assertThat(plan.billed().cpus()).isEqualTo(8);
    assertThat(plan.givenBy(List.of()).billed()).isEqualTo(plan.billed());
    assertThat(plan.givenBy(List.of(cores)).billed().cpus()).isEqualTo(4);
    assertThat(plan.givenBy(List.of(cores, lean)).billed().cpus()).isEqualTo(8);
    assertThatThrownBy(() -> plan.givenBy(List.of(whole, lean)))
        .hasMessageContaining("resources.gpu_type: is needed to know the price");
    Plan typed =
        Plans.of(
            RUN + "resources: {time: 1m, partition: lean}\n",
            Plans.CLUSTER + "gpu_type: h100\npartitions: {lean: {}}\n");
    assertThat(typed.givenBy(List.of(whole, lean)).billed())
        .returns(64, BilledResources::cpus)
        .returns(8, BilledResources::gpus)
        .returns(true, BilledResources::whole);
  }

  @Test
  void wholeNodesOfUnknownSizeHaveNoUpperCost() {
    assertProblems(
        RUN + "resources: {time: 1m, exclusive: true, partition: cpu}\n",
        Plans.CLUSTER + PARTITIONS,
        "run.yaml:4:34: resources.exclusive: whole nodes are paid for, and cluster profile 'mine' does not"
            + " say how large they are; give partitions.cpu cpus_per_node, memory_per_node and"
            + " gpus_per_node (0 for none)");
  }

  @Test
  void aPartitionThatTheProfileDoesNotKnowIsToldWithTheNearest() {
    assertProblems(
        RUN + "resources: {time: 1m, partition: gpus}\n",
        Plans.CLUSTER + PARTITIONS,
        "run.yaml:4:34: resources.partition: cluster profile 'mine' has no partition 'gpus' (did you mean"
            + " 'gpu'?); it has cpu, gpu, sized");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          gpus_per_node: 9, gpu_type: h100 | 4:37: resources.gpus_per_node: you ask for 9 GPUs on a node; partition 'full' has 8 GPUs on a node; gpus_per_node counts the GPUs on each node; ask for more nodes
          gpus_per_node: 1, gpu_type: a100 | 4:50: resources.gpu_type: you ask for a100 GPUs; partition 'full' has GPUs of type h100
          cpus_per_task: 97 | 4:37: resources.cpus_per_task: you ask for 97 CPUs on a node; partition 'full' has 96 CPUs on a node
          memory: 1025G | 4:30: resources.memory: you ask for 1 TiB on a node; partition 'full' has 1 TiB on a node
          time: 1-00:01 | 4:30: resources.time: you ask for a time limit of 1 day 1 minute; partition 'full' has a time limit of 1 day (MaxTime)
          """)
  void whatDoesNotFitThePartitionIsRefused(String resources, String message) {
    String time = resources.contains("time") ? "" : ", time: 1m";
    assertThatThrownBy(
            () ->
                Plans.of(
                    RUN + "resources: {partition: full, " + resources + time + "}\n",
                    Plans.CLUSTER
                        + "partitions: {full: {cpus_per_node: 96, gpus_per_node: 8, gpu_type: h100,"
                        + " memory_per_node: 1T, max_time: 1-00:00:00}}\n"))
        .hasMessageContaining(message.substring(message.indexOf(' ') + 1));
  }

  @Test
  void aWarningBeforeTheJobCanBeginIsRefused() {
    assertProblems(
        RUN + "resources: {time: 1m}\nrequeues: 1\nwarn_before_end: 1m\n",
        Plans.CLUSTER,
        "run.yaml:6:18: warn_before_end: must be shorter than resources.time; nothing would run");
  }

  @Test
  void thePartitionsGpusAreThoseThatAreAskedFor() {
    Plan plan =
        Plans.of(
            RUN + "resources: {partition: gpu, gpus_per_node: 2, time: 1m}\n",
            Plans.CLUSTER + "gpu_type: a100\n" + PARTITIONS);

    assertThat(plan.allocation().gpuType()).contains("h100");
  }

  @Test
  void aProfileThatKnowsNoPartitionsTakesAny() {
    assertThat(
            Plans.of(RUN + "resources: {time: 1m, partition: any}\n", Plans.CLUSTER)
                .allocation()
                .partition())
        .contains("any");
  }

  @Test
  void allThatCannotBeMetIsToldInOneGo() {
    assertProblems(
        RUN + "resources: {time: 1m, gpus_per_node: 1}\n" + "requeues: 4\n",
        Plans.CLUSTER,
        "run.yaml:4:12: resources.gpu_type: is needed to know the price; the cluster profile names none"
            + " either",
        "run.yaml:5:11: requeues: the policy allows at most 3 (jar:configs/policy.yaml)");
  }

  @Test
  void nothingElseFollowsFromAnUnknownPartition() {
    for (String more : List.of("gpus_per_node: 1", "exclusive: true")) {
      assertProblems(
          RUN + "resources: {time: 1m, partition: nope, " + more + "}\n",
          Plans.CLUSTER + "partitions: {cpu: {gpus_per_node: 0}}\n",
          "run.yaml:4:34: resources.partition: cluster profile 'mine' has no partition 'nope'; it"
              + " has cpu");
    }
  }

  @Test
  void thisMachineHasOneNodeAndNoGpus() {
    assertProblems(
        RUN + "resources: {time: 1m, nodes: 2}\n",
        Plans.CLUSTER + "scheduler: local\naccelerator: cpu\n",
        "run.yaml:4:12: resources: this machine alone has one node and no GPUs to give: add --set"
            + " resources.nodes=1 --set resources.gpus_per_node=0, or leave --local out");
  }

  @Test
  void filesThatTheConfigNamesAreKeptWithThePlan() {
    ConfigFolder folder =
        new ConfigFolder()
            .with("run.yaml", RUN + "resources: {time: 1m}\nfiles: [lib/a.py, b.txt]\n")
            .with("lib/a.py", "print()\n")
            .with("b.txt", "b")
            .with("configs/clusters/mine.yaml", Plans.CLUSTER);

    List<RunnerFile> files = Plans.of(folder).payload().files();

    assertThat(files).extracting(RunnerFile::name).containsExactly("a.py", "b.txt");
    assertThat(files.get(0).content()).asString().isEqualTo("print()\n");
  }

  @Test
  void aFileThatIsNotThereIsToldBeforeAnythingIsSubmitted() {
    assertThatThrownBy(
            () -> Plans.of(RUN + "resources: {time: 1m}\nfiles: [a.py]\n", Plans.CLUSTER))
        .hasMessageContaining("no such file: a.py. Looked for it in: /home/ada/science/a.py");
  }

  private static void assertProblems(String config, String cluster, String... problems) {
    assertThatThrownBy(() -> Plans.of(config, cluster))
        .isInstanceOfSatisfying(
            NexaException.class,
            wrong -> {
              assertThat(wrong.exitCode()).isEqualTo(ExitCode.USAGE);
              assertThat(wrong.getMessage().replace(ConfigFolder.PATH + "/", "").lines())
                  .containsExactly(problems);
            });
  }
}
