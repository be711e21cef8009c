package dev.nexa.slurm.job.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import java.time.Duration;
import java.time.LocalDate;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartitionChoiceTest {
  private static final String PARTITIONS =
      """
      partitions:
        gpu: {cpus_per_node: 96, gpus_per_node: 8, gpu_type: h100, memory_per_node: 1T, max_nodes: 4, max_time: 1-00:00:00}
        gpu-a100: {cpus_per_node: 64, gpus_per_node: 4, gpu_type: a100, memory_per_node: 512G, max_time: 2-00:00:00}
        cpu: {cpus_per_node: 64, gpus_per_node: 0, memory_per_node: 256G, default_memory_per_cpu: 2G}
        big: {cpus_per_node: 128, gpus_per_node: 0, memory_per_node: 4T, over_time_limit_minutes: 10}
        small: {cpus_per_node: 16, gpus_per_node: 0, memory_per_node: 64G, by_name_only: true}
      """;
  private static final String WITH_DEFAULT = "default_partition: gpu\n" + PARTITIONS;

  @ParameterizedTest(name = "{0}: {2}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          gpus_per_node: 2                       | gpu      | the profile's default
          gpus_per_node: 2, gpu_type: h100       | gpu      | the profile's default
          cpus_per_task: 4                       | gpu      | the profile's default
          gpus_per_node: 2, gpu_type: a100       | gpu-a100 | has a100; default partition gpu has h100
          gpus_per_node: 2, gpu_type: A100       | gpu-a100 | has a100; default partition gpu has h100
          time: 36h                              | cpu      | fits; default partition gpu has a time limit of 1 day (MaxTime)
          time: 36h, gpus_per_node: 1            | gpu-a100 | has a time limit of 2 days (MaxTime); default partition gpu has a time limit of 1 day (MaxTime)
          memory: 2T                             | big      | has 4 TiB on a node; default partition gpu has 1 TiB on a node
          cpus_per_task: 100, memory: 1G         | big      | has 128 CPUs on a node; default partition gpu has 96 CPUs on a node
          nodes: 5                               | cpu      | fits; default partition gpu has 4 nodes for a job at most
          partition: small                       | small    | as you asked
          """)
  void theDefaultIsTakenIfItFitsElseThatWhichWastesLeast(
      String resources, String partition, String reason) {
    assertChosen(plan(resources, WITH_DEFAULT), partition, reason);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          gpus_per_node: 2                        | gpu-a100 | the smallest nodes of the 2 that fit
          gpus_per_node: 8                        | gpu      | the only one that fits
          gpus_per_node: 1, gpu_type: h100        | gpu      | the only one that fits
          cpus_per_task: 4                        | cpu      | the smallest nodes of the 4 that fit
          """)
  void withoutADefaultTheOneThatWastesLeastIsTaken(
      String resources, String partition, String reason) {
    assertChosen(plan(resources, PARTITIONS), partition, reason);
  }

  /** Slurm tells upper from lower case. */
  @Test
  void aGpuTypeIsSpelledAsThePartitionDoes() {
    assertThat(plan("gpus_per_node: 2, gpu_type: A100", WITH_DEFAULT).allocation().gpuType())
        .contains("a100");
  }

  @Test
  void partitionsOfOneSizeAreTakenByName() {
    assertThat(plan("nodes: 1", "partitions: {b: {}, a: {}}\n").allocation().partition())
        .contains("a");
  }

  @Test
  void theProfilesOwnGpuTypeIsTakenBeforeSmallerNodes() {
    assertChosen(
        plan("gpus_per_node: 2", "gpu_type: h100\n" + PARTITIONS),
        "gpu",
        "the smallest nodes of the 2 that fit");
  }

  @Test
  void aPartitionThatSaysItHasTheTypeGoesBeforeADefaultThatDoesNot() {
    assertChosen(
        plan(
            "gpus_per_node: 2, gpu_type: a100",
            "default_partition: zoo\npartitions: {zoo: {gpus_per_node: 8}, ours: {gpu_type: a100}}\n"),
        "ours",
        "has a100; default partition zoo does not say which GPUs it has");
  }

  @Test
  void anUnknownPartitionIsTrustedWhereNoneSaysIt() {
    assertChosen(
        plan(
            "gpus_per_node: 2, gpu_type: a100",
            "default_partition: zoo\npartitions: {zoo: {gpus_per_node: 8}, cpu: {gpus_per_node: 0}}\n"),
        "zoo",
        "the profile's default");
  }

  @Test
  void whereRanksRunOnCpusTheGpuTypeDoesNotMatter() {
    assertChosen(
        plan("gpus_per_node: 2, gpu_type: a100", "accelerator: cpu\n" + PARTITIONS),
        "cpu",
        "the smallest nodes of the 4 that fit");
  }

  @Test
  void whereNoneFitsTheErrorSaysForEachWhyNot() {
    assertThatThrownBy(() -> plan("gpus_per_node: 16, gpu_type: a100, memory: 600G", WITH_DEFAULT))
        .hasMessage(
            ConfigFolder.PATH
                + "/run.yaml:4:12: resources: no partition of cluster profile 'mine' fits 1 node with 16 a100 GPUs, 1 CPU and 600 GiB, for 1 minute:\n"
                + "    gpu has 8 GPUs on a node, h100 GPUs\n"
                + "    gpu-a100 has 4 GPUs on a node, 512 GiB on a node\n"
                + "    cpu has no GPUs, 256 GiB on a node\n"
                + "    big has no GPUs\n"
                + "    small is only for jobs that name it (by_name_only)");
  }

  /** The places are those of the keys, and the last line says what was perhaps meant. */
  @Test
  void whereOneResourceAloneFitsNowhereItsKeyIsAtFault() {
    assertThatThrownBy(
            () -> plan("gpus_per_node: 16, gpu_type: h100", PARTITIONS.replace("a100", "h100")))
        .hasMessage(
            ConfigFolder.PATH
                + "/run.yaml:4:28: resources.gpus_per_node: no partition of cluster profile 'mine' fits 1 node with 16 h100 GPUs, 1 CPU, for 1 minute:\n"
                + "    gpu has 8 GPUs on a node\n"
                + "    gpu-h100 has 4 GPUs on a node\n"
                + "    cpu has no GPUs\n"
                + "    big has no GPUs\n"
                + "    small is only for jobs that name it (by_name_only)\n"
                + "    gpus_per_node counts the GPUs on each node; for 16 in all write nodes: 2 and"
                + " gpus_per_node: 8, or type --nodes 2 --gpus 8");
    assertThatThrownBy(() -> plan("time: 7200, gpus_per_node: 1", PARTITIONS))
        .hasMessage(
            ConfigFolder.PATH
                + "/run.yaml:4:19: resources.time: no partition of cluster profile 'mine' fits 1 node with 1 GPU, 1 CPU, for 5 days:\n"
                + "    gpu has a time limit of 1 day (MaxTime)\n"
                + "    gpu-a100 has a time limit of 2 days (MaxTime)\n"
                + "    cpu has no GPUs\n"
                + "    big has no GPUs\n"
                + "    small is only for jobs that name it (by_name_only)\n"
                + "    a bare number is minutes: for 7200 seconds write 120m");
  }

  @Test
  void wholeNodesAreOnlyAskedForWhereTheirSizeIsKnown() {
    assertChosen(
        plan(
            "exclusive: true",
            "default_partition: a\npartitions: {a: {}, b: {cpus_per_node: 8, memory_per_node: 8G, gpus_per_node: 0}}\n"),
        "b",
        "has nodes of known size; default partition a has nodes of unknown size");
  }

  @Test
  void theOnlyPartitionIsCheckedKeyByKey() {
    assertThatThrownBy(() -> plan("nodes: 3", "partitions: {one: {max_nodes: 2}}\n"))
        .hasMessageContaining(
            "resources.nodes: you ask for 3 nodes; partition 'one' has 2 nodes for a job at most");
  }

  @Test
  void withoutKnownPartitionsItIsLeftToSlurmOrTheDefault() {
    assertThat(plan("nodes: 1", "").allocation().partition()).isEmpty();
    assertThat(plan("nodes: 1", "").shape().partitionReason()).isEmpty();
    assertChosen(plan("nodes: 1", "default_partition: gpu\n"), "gpu", "the profile's default");
  }

  @Test
  void thePriceIsThatOfTheChosenPartitionsGpus() {
    Plan plan = plan("gpus_per_node: 8", PARTITIONS.replace("h100", "h200"));

    assertThat(plan.billed().gpuType()).contains("h200");
    Plan cheap = plan("gpus_per_node: 2, gpu_type: a100", WITH_DEFAULT);
    ConfigFolder folder = new ConfigFolder().with("configs/clusters/mine.yaml", Plans.CLUSTER);
    PriceKey key = PriceKey.of(cheap, folder.reader().cluster("mine"), LocalDate.of(2026, 1, 1));
    Rates rates = Rates.of(folder.reader().prices("default"), key);
    assertThat(Estimate.of(cheap, rates).reservation().get(0).what()).isEqualTo("gpu:a100");
  }

  @Test
  void memoryIsThePartitionsDefaultWhereTheConfigNamesNone() {
    assertThat(plan("cpus_per_task: 3, partition: cpu", PARTITIONS).allocation().memoryBytes())
        .isEqualTo(6L << 30);
    assertThat(
            plan("cpus_per_task: 3", "partitions: {a: {default_memory_per_node: 50G}}\n")
                .allocation()
                .memoryBytes())
        .isEqualTo(50L << 30);
  }

  @Test
  void thePartitionsOwnOverTimeLimitIsReservedFor() {
    assertThat(plan("memory: 2T", WITH_DEFAULT).site().overTimeLimit())
        .isEqualTo(Duration.ofMinutes(10));
    assertThat(plan("memory: 1T", WITH_DEFAULT).site().overTimeLimit()).isZero();
  }

  @Test
  void theReasonIsKeptWithThePlanButIsNotWhatIsApproved() {
    Plan chosen = plan("cpus_per_task: 4", "default_partition: gpu\n");
    Plan named = plan("cpus_per_task: 4, partition: gpu", "");

    assertThat(PlanFile.of(chosen).json().text("partition_reason"))
        .isEqualTo("partition gpu: the profile's default");
    assertThat(chosen.shape().partitionReason()).isNotEqualTo(named.shape().partitionReason());
    assertThat(chosen.digest()).isEqualTo(named.digest());
  }

  private static void assertChosen(Plan plan, String partition, String reason) {
    assertThat(plan.allocation().partition()).contains(partition);
    assertThat(plan.shape().partitionReason())
        .isEqualTo(Optional.of("partition " + partition + ": " + reason));
  }

  private static Plan plan(String resources, String cluster) {
    String time = resources.contains("time") ? "" : ", time: 1m";
    return Plans.of(
        "stage: data\nbackend: shell\nrun: echo\nresources: {" + resources + time + "}\n",
        Plans.CLUSTER + cluster);
  }
}
