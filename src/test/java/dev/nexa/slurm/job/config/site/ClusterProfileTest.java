package dev.nexa.slurm.job.config.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.shared.Software;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClusterProfileTest {
  private static final String STORAGE =
      "storage: {scratch: /scratch, durable: /durable, shared: /shared}\n";

  @Test
  void onlyStorageMustBeGivenAndTheRestIsSlurmsOwnDefault() {
    ClusterProfile cluster = read(STORAGE);

    assertThat(cluster.name()).isEqualTo("mine");
    assertThat(cluster.scheduler()).isEqualTo("slurm");
    assertThat(cluster.accelerator()).isEqualTo("cuda");
    assertThat(cluster.priceBook()).isEqualTo("default");
    assertThat(cluster.health())
        .contains(new Health(1L << 30, Optional.empty(), Optional.empty(), true));
    assertThat(cluster.partitions()).isEmpty();
    assertThat(cluster.slurm().overTimeLimit()).isZero();
    assertThat(cluster.slurm().killWait()).isEqualTo(Duration.ofSeconds(30));
    assertThat(cluster.slurm().messageTimeout()).isEqualTo(Duration.ofSeconds(10));
    assertThat(cluster.slurm().maxArraySize()).isEqualTo(1001);
  }

  @Test
  void everythingThatCanBeSaidIsRead() {
    ClusterProfile cluster =
        read(
            """
            scheduler: slurm
            default_partition: gpu
            partitions:
              gpu: {exclusive: true, cpus_per_node: 96, gpus_per_node: 8, gpu_type: h100, memory_per_node: 2T,
                    cpus_multiple_of: 2, max_memory_per_cpu: 4000M, most_cpus_per_node: 128,
                    default_memory_per_cpu: 4G, max_nodes: 16, max_time: 2-00:00:00, over_time_limit_minutes: 3, by_name_only: true,
                    billing_weights: "CPU=1.0,Mem=0.25G,GRES/gpu=2"}
              cpu: {}
            account: nlp
            qos: high
            gpu_type: h100
            price_book: contract
            storage: {scratch: /s, durable: /d, shared: /h}
            software: {modules: [cuda/12.4], container: /images/a.sqsh, container_runtime: pyxis, mounts: [/data]}
            env: {NCCL_DEBUG: INFO, N: 1}
            health_check: false
            slurm: {over_time_limit_minutes: 5, kill_wait_seconds: 60, message_timeout_seconds: 20, max_array_size: 10001, version: "24.11.3"}
            """);

    assertThat(cluster.partitions())
        .containsExactly(
            Map.entry(
                "gpu",
                new ClusterProfile.Partition(
                    new NodeSharing(
                        true,
                        2,
                        Optional.of(4000L << 20),
                        Optional.of(128),
                        Optional.of(8),
                        Optional.of(2L << 40),
                        0),
                    Optional.of(96),
                    Optional.of(8),
                    Optional.of("h100"),
                    Optional.of(2L << 40),
                    Optional.of(4L << 30),
                    Optional.empty(),
                    Optional.of(16),
                    Optional.of(Duration.ofDays(2)),
                    Optional.of(Duration.ofMinutes(3)),
                    true,
                    Optional.of("CPU=1.0,Mem=0.25G,GRES/gpu=2"))),
            Map.entry(
                "cpu",
                new ClusterProfile.Partition(
                    NodeSharing.AS_ASKED,
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    false,
                    Optional.empty())));
    assertThat(cluster.slurm().version()).contains("24.11.3");
    assertThat(cluster.nodes().software())
        .isEqualTo(
            new Software(
                List.of("cuda/12.4"),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of("/images/a.sqsh"),
                Optional.of("pyxis"),
                List.of("/data")));
    assertThat(cluster.health()).isEmpty();
    assertThat(cluster.nodes().env())
        .containsOnly(Map.entry("NCCL_DEBUG", "INFO"), Map.entry("N", "1"));
    assertThat(cluster.slurm().overTimeLimit()).isEqualTo(Duration.ofMinutes(5));
    assertThat(cluster.slurm().killWait()).isEqualTo(Duration.ofMinutes(1));
  }

  @Test
  void whatANodeMustHave() {
    ClusterProfile cluster =
        read(
            STORAGE
                + "health: {scratch_free: 50G, min_driver: '550.54', interface: ib0, all_reduce: false}\n");

    assertThat(cluster.health())
        .contains(new Health(50L << 30, Optional.of("550.54"), Optional.of("ib0"), false));
  }

  @Test
  void onlyOneThingBringsPython() {
    assertProblem(
        STORAGE + "software: {conda: train, container: /a.sif}\n",
        "mine.yaml:2:37: software.container: there is conda already, and only one brings Python");
    assertProblem(
        STORAGE + "software: {container: /bundle, container_runtime: slurm, mounts: [/data]}\n",
        "mine.yaml:2:66: software.mounts: an OCI bundle's own config.json holds its mounts");
  }

  @Test
  void anExclusivePartitionNeedsItsSizeBecauseWholeNodesArePaidFor() {
    assertProblem(
        STORAGE + "partitions: {gpu: {exclusive: true, cpus_per_node: 8}}\n",
        "mine.yaml:2:31: partitions.gpu.exclusive: whole nodes are paid for: give cpus_per_node,"
            + " memory_per_node and gpus_per_node (0 for none)");
  }

  @Test
  void theDefaultPartitionIsOneOfThePartitions() {
    assertProblem(
        STORAGE + "default_partition: gpus\npartitions: {gpu: {}, cpu: {}}\n",
        "mine.yaml:2:20: default_partition: is none of the partitions (did you mean 'gpu'?); they are"
            + " gpu, cpu");
  }

  @Test
  void defaultMemoryIsForACpuOrForANodeAsInSlurm() {
    assertProblem(
        STORAGE + "partitions: {a: {default_memory_per_cpu: 1G, default_memory_per_node: 1G}}\n",
        "mine.yaml:2:71: partitions.a.default_memory_per_node: give either it or"
            + " default_memory_per_cpu, as Slurm has it");
  }

  @Test
  void unlimitedOverTimeHasNoUpperCost() {
    assertProblem(
        STORAGE + "slurm: {over_time_limit_minutes: UNLIMITED}\n",
        "mine.yaml:2:34: slurm.over_time_limit_minutes: expected a whole number from 0 to 65533, got"
            + " text 'UNLIMITED'");
  }

  @Test
  void aTierIsAnAbsolutePathOfItsOwn() {
    assertProblem(
        "storage: {scratch: tmp, durable: '${scratch}/d', shared: /s}\n",
        "mine.yaml:1:20: storage.scratch: expected an absolute path, got 'tmp'\n"
            + "mine.yaml:1:34: storage.durable: expected an absolute path, got '${scratch}/d'");
  }

  @Test
  void anUnknownSchedulerIsToldWithTheNearest() {
    assertProblem(
        STORAGE + "scheduler: slrum\n",
        "mine.yaml:2:12: scheduler: expected one of slurm, local, got 'slrum' (did you mean"
            + " 'slurm'?)");
  }

  @Test
  void aProfileThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> new ConfigFolder().reader().cluster("nowhere"))
        .hasMessageStartingWith(
            "no cluster profile named 'nowhere': there is no configs/clusters/nowhere.yaml here, in ")
        .hasMessageEndingWith(" or in the jar");
  }

  @Test
  void aMistypedNameIsAnsweredWithTheNamesThatExist() {
    ConfigFolder folder =
        new ConfigFolder()
            .with("configs/clusters/mine.yaml", STORAGE + "price_book: defalt\n")
            .with("configs/prices/site.yaml", "currency: USD\nas_of: 2026-01-01\n");

    assertThatThrownBy(() -> folder.reader().cluster("min"))
        .hasMessageEndingWith("in the jar (did you mean 'mine'?)")
        .extracting(failed -> ((NexaException) failed).advice().get(0).toString())
        .isEqualTo(
            "write one of these names as --cluster or NEXA_CLUSTER: cpu, default, local, mine");
    assertThatThrownBy(() -> folder.reader().prices(folder.reader().cluster("mine")))
        .hasMessageStartingWith("configs/clusters/mine.yaml: price_book: no price book named")
        .hasMessageEndingWith("(did you mean 'default'?)")
        .extracting(failed -> ((NexaException) failed).advice().toString())
        .isEqualTo("[write one of these names: default, site]");
  }

  @Test
  void theWorkspacesOwnProfileWinsOverTheJars() {
    ConfigFolder folder =
        new ConfigFolder().with("configs/clusters/default.yaml", STORAGE + "account: mine\n");

    assertThat(folder.reader().cluster("default").usual().account()).contains("mine");
    assertThat(new ConfigFolder().reader().cluster("default").usual().account()).isEmpty();
  }

  private static ClusterProfile read(String text) {
    return new ConfigFolder().with("configs/clusters/mine.yaml", text).reader().cluster("mine");
  }

  private static void assertProblem(String text, String problem) {
    assertThatThrownBy(() -> read(text))
        .isInstanceOf(ConfigException.class)
        .satisfies(
            wrong ->
                assertThat(wrong.getMessage().replace(ConfigFolder.PATH + "/configs/clusters/", ""))
                    .isEqualTo(problem));
  }
}
