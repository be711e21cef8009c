package dev.nexa.slurm.cluster.scheduler.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster.Partition;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster.Spread;
import dev.nexa.slurm.job.config.site.NodeSharing;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads src/test/resources/cluster. */
class ClusterTextTest {
  private static final SlurmCluster REAL = Clusters.of("22.05.8");
  private static final SlurmCluster MANY = Clusters.of("26.05-from-source");

  @Test
  void aRealClusterIsReadWhole() {
    assertThat(REAL.name()).isEqualTo("nexa");
    assertThat(REAL.version()).isEqualTo("22.05.8");
    assertThat(REAL.overTimeLimitMinutes()).isZero();
    assertThat(REAL.killWaitSeconds()).contains(5L);
    assertThat(REAL.messageTimeoutSeconds()).contains(10L);
    assertThat(REAL.maxArraySize()).contains(10_001L);
    assertThat(REAL.defaultPartition()).contains("gpu");
    assertThat(REAL.partitions()).extracting(Partition::name).containsExactly("gpu", "cpu");
    assertThat(REAL.leftOut()).isEmpty();
    Partition gpu = REAL.partitions().get(0);
    assertThat(gpu.nodes().names()).isEqualTo("n[1-4]");
    assertThat(gpu.nodes().count()).isEqualTo(4);
    assertThat(gpu.nodes().cpus()).isEqualTo(new Spread(16, 16));
    assertThat(gpu.nodes().memoryMib()).isEqualTo(new Spread(64_000, 64_000));
    assertThat(gpu.nodes().gpus()).isEqualTo(new Spread(8, 8));
    assertThat(gpu.nodes().gpuTypes()).containsExactly("h100");
    assertThat(gpu.defaultMibPerCpu()).contains(1000L);
    assertThat(gpu.defaultMibPerNode()).isEmpty();
    assertThat(gpu.maxTime()).contains(Duration.ofDays(2));
    assertThat(gpu.maxNodes()).isEmpty();
    assertThat(gpu.exclusive()).isFalse();
    assertThat(gpu.onlyFor()).isEmpty();
  }

  @Test
  void ofNodesThatDifferTheLeastAndTheMostIsKept() {
    assertThat(partition("gpu").nodes().cpus()).isEqualTo(new Spread(64, 96));
    assertThat(partition("gpu").nodes().gpus()).isEqualTo(new Spread(4, 8));
    assertThat(partition("gpu").nodes().memoryMib()).isEqualTo(new Spread(515_000, 1_031_000));
    assertThat(partition("mixed").nodes().gpus()).isEqualTo(new Spread(0, 4));
    assertThat(partition("zoo").nodes().gpuTypes())
        .containsExactly("a100", "nvidia_a100_3g.20gb", "v100");
    assertThat(partition("untyped").nodes().gpuTypes()).containsExactly("");
  }

  @Test
  void aPartitionsLimitsBindItsNodes() {
    assertThat(partition("mixed").nodes().cpus()).isEqualTo(new Spread(32, 32));
    assertThat(partition("zoo").nodes().memoryMib()).isEqualTo(new Spread(192_000, 200_000));
  }

  @Test
  void wholeNodesAreTellableBeforeAndSince2605() {
    assertThat(partition("whole").exclusive()).isTrue();
    assertThat(partition("old-whole").exclusive()).isTrue();
    assertThat(partition("gpu").exclusive()).isFalse();
  }

  @Test
  void whatJobsGetBeyondWhatTheyAskForIsRead() {
    assertThat(partition("gpu").sharing())
        .isEqualTo(
            new NodeSharing(
                false,
                2,
                Optional.empty(),
                Optional.of(96),
                Optional.of(8),
                Optional.of(1031000L << 20),
                0));
    assertThat(partition("mixed").sharing().mostCpus())
        .as("a whole node is larger than MaxCPUsPerNode")
        .contains(64);
    assertThat(partition("123").sharing())
        .as("as many CPUs as cores")
        .isEqualTo(
            new NodeSharing(
                false,
                1,
                Optional.of(4000L << 20),
                Optional.of(40),
                Optional.of(0),
                Optional.of(180000L << 20),
                0));
    assertThat(REAL.partitions().get(0).sharing())
        .isEqualTo(
            new NodeSharing(
                false,
                1,
                Optional.empty(),
                Optional.of(16),
                Optional.of(8),
                Optional.of(64000L << 20),
                0));
  }

  /** Two nodes: one with cores of two threads, one with as many CPUs as cores. */
  @ParameterizedTest(name = "{0}, partition {1}: {2}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          CR_CPU_MEMORY                             | NONE    | 1
          CR_CPU,CR_CORE_DEFAULT_DIST_BLOCK         | NONE    | 1
          CR_CORE_MEMORY                            | NONE    | 2
          CR_CORE_MEMORY,CR_ONE_TASK_PER_CORE       | NONE    | 2
          CR_SOCKET_MEMORY                          | NONE    | 16
          CR_CORE_MEMORY                            | CR_SOCKET | 16
          CR_SOCKET                                 | CR_CORE | 2
          OTHER_OF_LATER                            | NONE    | 2
          """)
  void wholeCoresOrSocketsAreGivenAsTheClusterSays(String cluster, String partition, int cpus) {
    String nodes =
        "a\u001fn1\u001f16\u001f100\u001f(null)\u001f2:4:2\n"
            + "a\u001fn2\u001f8\u001f100\u001f(null)\u001f2:4:2\n";
    SlurmCluster read =
        ClusterText.read(
            "SelectTypeParameters = " + cluster,
            "PartitionName=a State=UP TotalNodes=2 SelectTypeParameters=" + partition + "\n",
            nodes);

    assertThat(read.partitions().get(0).sharing().cpusMultipleOf()).isEqualTo(cpus);
  }

  @ParameterizedTest(name = "partition {0}, cluster {1}: {2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "(null) | (null) | 0",
        "DefCpuPerGPU=4 | (null) | 4",
        "DefMemPerGPU=100,DefCpuPerGPU=6 | DefCpuPerGPU=2 | 6",
        "(null) | DefCpuPerGPU=2,DefMemPerGPU=100 | 2",
        "DefMemPerGPU=100 | (null) | 0",
      })
  void theDefaultOfCpusForEachGpuIsThePartitionsOrTheClusters(
      String partition, String cluster, int cpus) {
    SlurmCluster read =
        ClusterText.read(
            "JobDefaults             = " + cluster,
            "PartitionName=a State=UP TotalNodes=1 JobDefaults=" + partition + "\n",
            "a\u001fn1\u001f16\u001f100\u001f(null)\u001f2:4:2\n");

    assertThat(read.partitions().get(0).sharing().cpusPerGpu()).isEqualTo(cpus);
  }

  @Test
  void aClusterOfSelectLinearGivesWholeNodes() {
    SlurmCluster read =
        ClusterText.read(
            "SelectType = select/linear",
            "PartitionName=a State=UP TotalNodes=1\n",
            "a\u001fn1\u001f16\u001f100\u001f(null)\u001f2:4:2\n");

    assertThat(read.partitions().get(0).exclusive()).isTrue();
  }

  @ParameterizedTest(name = "partition {0}, cluster {1}: {2}")
  @CsvSource({
    "MaxMemPerNode=UNLIMITED, MaxMemPerCPU = 4000, 4000",
    "MaxMemPerCPU=3000, MaxMemPerCPU = 4000, 3000",
    "MaxMemPerNode=9000, MaxMemPerCPU = 4000, 0",
    "MaxMemPerNode=UNLIMITED, MaxMemPerNode = UNLIMITED, 0",
  })
  void maxMemPerCpuIsThePartitionsElseTheClusters(String partition, String cluster, long mib) {
    SlurmCluster read =
        ClusterText.read(
            cluster,
            "PartitionName=a State=UP TotalNodes=1 " + partition + "\n",
            "a\u001fn1\u001f16\u001f100\u001f(null)\u001f2:4:2\n");

    assertThat(read.partitions().get(0).sharing().maxMemoryPerCpu().orElse(0L))
        .isEqualTo(mib << 20);
  }

  @Test
  void defaultMemoryIsThePartitionsElseTheClusters() {
    assertThat(partition("gpu").defaultMibPerCpu()).contains(2048L);
    assertThat(partition("zoo").defaultMibPerCpu()).contains(4000L);
    assertThat(partition("whole").defaultMibPerCpu()).isEmpty();
    assertThat(partition("whole").defaultMibPerNode()).contains(128_000L);
  }

  @Test
  void aLimitThatIsNoneOrOverAYearIsNone() {
    assertThat(partition("zoo").maxTime()).isEmpty();
    assertThat(partition("untyped").maxTime()).isEmpty();
    assertThat(partition("gpu").overTimeLimitMinutes()).isEmpty();
    assertThat(partition("whole").overTimeLimitMinutes()).contains(10L);
  }

  @Test
  void whatSlurmDemandsOfAPartitionsJobsIsKept() {
    assertThat(partition("mixed").onlyFor()).isEqualTo("AllowAccounts=nlp,vision, ReqResv=YES");
    assertThat(partition("123").onlyFor()).isEqualTo("AllowQos=long");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          drained | State=DRAIN
          down    | State=DOWN
          secret  | Hidden=YES
          rooted  | RootOnly=YES
          endless | OverTimeLimit=UNLIMITED: its jobs have no upper cost
          theirs  | sinfo does not show it to you
          empty   | it has no nodes
          """)
  void wherePeopleCannotSendJobsIsLeftOutWithTheReason(String partition, String reason) {
    assertThat(MANY.leftOut()).containsEntry(partition, reason);
    assertThat(MANY.partitions()).extracting(Partition::name).doesNotContain(partition);
  }

  @Test
  void keysBelowTheFirstPartOfTheConfigAreNotMeant() {
    assertThat(MANY.killWaitSeconds()).contains(30L);
    assertThat(MANY.overTimeLimitMinutes()).isEqualTo(5);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          OverTimeLimit = UNLIMITED | OverTimeLimit is UNLIMITED: a job may run on
          MaxArraySize = 0          | MaxArraySize is 0: this cluster takes no job arrays
          """)
  void aClusterWithoutAnUpperCostOrArraysIsRefused(String config, String message) {
    assertThatThrownBy(() -> ClusterText.read(config, "", ""))
        .hasMessageStartingWith("`scontrol show config` says that " + message)
        .isInstanceOfSatisfying(
            NexaException.class,
            refused -> assertThat(refused.exitCode()).isEqualTo(ExitCode.USAGE));
  }

  @ParameterizedTest
  @CsvSource({"UNLIMITED", "INFINITE", "NONE", "(null)", "4294967294", "18446744073709551615"})
  void theWordsAndNumbersForNoLimitAreNoLimit(String text) {
    String partition = "PartitionName=a State=UP TotalNodes=1 MaxNodes=" + text + "\n";
    SlurmCluster read =
        ClusterText.read(
            "KillWait = " + text, partition, "a\u001fn\u001f8\u001f100\u001f(null)\u001f1:8:1");

    assertThat(read.killWaitSeconds()).isEmpty();
    assertThat(read.partitions().get(0).maxNodes()).isEqualTo(Optional.empty());
  }

  private static Partition partition(String name) {
    return MANY.partitions().stream()
        .filter(one -> one.name().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
