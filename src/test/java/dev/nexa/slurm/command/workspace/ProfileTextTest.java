package dev.nexa.slurm.command.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.cluster.scheduler.slurm.ClusterText;
import dev.nexa.slurm.cluster.scheduler.slurm.Clusters;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster;
import dev.nexa.slurm.command.workspace.ProfileDifferences.Difference;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Partition;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Profiles as init writes them: src/test/resources/golden/profile. */
class ProfileTextTest {
  private static final ConfigFolder FOLDER = new ConfigFolder();

  @ParameterizedTest
  @ValueSource(strings = {"22.05.8", "26.05-from-source"})
  void aProfileReadsAsIfAPersonHadWrittenIt(String cluster) {
    Golden.check("profile/" + cluster + ".yaml", text(Clusters.of(cluster)));
  }

  @Test
  void ourOwnReaderTakesIt() {
    ClusterProfile profile = read(text(Clusters.of("26.05-from-source")));

    assertThat(profile.usual().partition()).contains("gpu");
    assertThat(profile.partitions())
        .containsOnlyKeys("gpu", "whole", "old-whole", "zoo", "mixed", "untyped", "123");
    assertThat(profile.slurm().overTimeLimit()).isEqualTo(Duration.ofMinutes(5));
    assertThat(profile.slurm().version()).contains("26.05.3");
    Partition gpu = profile.partitions().get("gpu");
    assertThat(gpu.cpusPerNode()).contains(64);
    assertThat(gpu.gpusPerNode()).contains(4);
    assertThat(gpu.memoryPerNode()).contains(515_000L << 20);
    assertThat(gpu.defaultMemoryPerCpu()).contains(2L << 30);
    assertThat(gpu.maxNodes()).contains(2);
    for (SlurmCluster.Partition partition : Clusters.of("26.05-from-source").partitions()) {
      if (profile.partitions().containsKey(partition.name())) {
        assertThat(profile.partitions().get(partition.name()).sharing())
            .as(partition.name())
            .isEqualTo(partition.sharing());
      }
    }
    assertThat(gpu.maxTime()).contains(Duration.ofDays(3));
    Partition whole = profile.partitions().get("whole");
    assertThat(whole.cpusPerNode()).as("the most is paid for").contains(128);
    assertThat(whole.overTimeLimit()).contains(Duration.ofMinutes(10));
    assertThat(profile.partitions().get("mixed").gpusPerNode()).isEmpty();
    assertThat(profile.partitions().get("mixed").gpuType()).contains("a100");
    assertThat(profile.partitions().get("mixed").byNameOnly()).isTrue();
    assertThat(profile.partitions().get("zoo").gpuType()).isEmpty();
  }

  @Test
  void aClusterOfWhichNothingCanBeUsedStillMakesAProfile() {
    assertThat(read(text(ClusterText.read("", "", ""))).partitions()).isEmpty();
  }

  @Test
  void aNodeWithoutRealMemoryAndOneOfManySlicesAreStillRead() {
    String partitions = "PartitionName=a TotalNodes=1 Nodes=n1 OverSubscribe=EXCLUSIVE\n";
    String nodes = "a\u001fn1\u001f8\u001f1\u001fgpu:a100_1g.5gb:112\u001f1:8:1\n";

    Partition read = read(text(ClusterText.read("", partitions, nodes))).partitions().get("a");

    assertThat(read.memoryPerNode()).contains(1L << 20);
    assertThat(read.gpusPerNode()).contains(64);
  }

  @Test
  void whatSlurmSaysCannotBreakOutOfItsComment() {
    String hostile =
        text(ClusterText.read("ClusterName = a\u0085scheduler: local\u2028b\u0007", "", ""));

    assertThat(hostile).contains("# Cluster a?scheduler: local");
    assertThat(read(hostile).scheduler()).isEqualTo("slurm");
  }

  @Test
  void aProfileDoesNotDifferFromTheClusterItWasReadFrom() {
    ClusterProfile profile = read(text(Clusters.of("22.05.8")));

    assertThat(ProfileDifferences.of(profile, profile)).isEmpty();
  }

  @ParameterizedTest(name = "{0} for {1}: {2}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          kill_wait_seconds: 5  | kill_wait_seconds: 30   | slurm.kill_wait_seconds | 30 | 5
          version: "22.05.8"    | version: "21.08.5"      | slurm.version | 21.08.5 | 22.05.8
          gpus_per_node: 8      | gpus_per_node: 4        | partitions.gpu.gpus_per_node | 4 | 8
          gpu_type: h100        | gpu_type: a100          | partitions.gpu.gpu_type | a100 | h100
          memory_per_node: 64000M | memory_per_node: 64G  | partitions.gpu.memory_per_node | 64G | 64000M
          max_time: 2-00:00:00  | max_time: 1-00:00:00    | partitions.gpu.max_time | 1-00:00:00 | 2-00:00:00
          max_nodes: 4          | by_name_only: true      | partitions.gpu.max_nodes | - | 4
          default_partition: gpu | default_partition: cpu | default_partition | cpu | gpu
          billing_weights: CPU=1 | billing_weights: CPU=2 | partitions.gpu.billing_weights | CPU=2 | CPU=1
          """)
  void eachKeyInWhichTheyDifferIsTold(
      String was, String is, String key, String file, String cluster) {
    String text = text(Clusters.of("22.05.8"));
    assertThat(text).contains(was);
    int at = text.indexOf(was);
    String changed = text.substring(0, at) + is + text.substring(at + was.length());

    assertThat(ProfileDifferences.of(read(changed), read(text)))
        .containsExactly(new Difference(key, file, cluster));
  }

  /** Slurm prints weights in its own spelling. */
  @Test
  void anotherSpellingOfTheSameWeightsIsNoDifference() {
    String text = text(Clusters.of("22.05.8"));
    String other = text.replaceFirst("billing_weights: CPU=1 ", "billing_weights: \"CPU=1.0\" ");

    assertThat(other).isNotEqualTo(text);
    assertThat(ProfileDifferences.of(read(other), read(text))).isEmpty();
  }

  @Test
  void partitionsThatCameOrWentAreTold() {
    ClusterProfile cluster = read(text(Clusters.of("22.05.8")));
    ClusterProfile none =
        read(
            "storage: {scratch: /s, durable: /d, shared: /h}\n"
                + "slurm: {kill_wait_seconds: 5, max_array_size: 10001}\ndefault_partition: gpu\n");
    ClusterProfile other = read(text(Clusters.of("22.05.8")).replace("  cpu: ", "  old: "));

    assertThat(ProfileDifferences.of(none, cluster))
        .isEqualTo(List.of(new Difference("partitions", "-", "gpu, cpu")));
    assertThat(ProfileDifferences.of(other, cluster))
        .containsExactly(
            new Difference("partitions.cpu", "-", "there"),
            new Difference("partitions.old", "there", "-"));
  }

  private static String text(SlurmCluster cluster) {
    String starter = FOLDER.source().carried("configs/clusters/default.yaml").text();
    return ProfileText.of(cluster, LocalDate.of(2026, 11, 21), "nexa-slurm init", starter);
  }

  private static ClusterProfile read(String text) {
    return FOLDER.reader().cluster("mine", "mine.yaml", text);
  }
}
