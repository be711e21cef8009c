package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.plan.Plans;
import java.math.BigDecimal;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code tasks x attempts x (time limit + OverTimeLimit + KillWait + 60 s) x TRES}, each example
 * worked out by hand.
 */
class EstimateTest {
  private static final String RUN = "stage: data\nbackend: shell\nrun: echo\n";

  private static final Rates RATES =
      new Rates(
          "book",
          "2026-11-01",
          "d1",
          "USD",
          Map.of("h100", price("5.50"), "a100", price("3.75")),
          Map.of(PricedUnit.CPU, price("0.04"), PricedUnit.MEMORY, price("0.005")),
          BillingMode.PLAIN,
          Map.of());

  /** 60 min + 0 + 30 s + 60 s = 3690 s, 1.025 h. */
  private static final String HOUR = "time: 60m";

  @Test
  void oneTaskIsItsLimitAndWhatSlurmMayTakeToEndIt() {
    Estimate estimate = estimate("resources: {" + HOUR + ", cpus_per_task: 4, memory: 8G}\n", "");

    assertThat(estimate.timeLimitSeconds()).isEqualTo(3600);
    assertThat(estimate.longestAttemptSeconds()).isEqualTo(3690);
    // 4 CPUs x 1.025 h = 4.1 h x 0.04 = 0.164; 8 GiB x 1.025 h = 8.2 h x 0.005 = 0.041
    assertLines(estimate, "cpu 4.1000 cpu_hour 0.16", "memory 8.2000 gib_hour 0.04");
    assertThat(estimate.total()).hasToString("0.20 USD");
  }

  @Test
  void gpusComeFirstAndAreCountedOverAllNodes() {
    Estimate estimate =
        estimate(
            "resources: {"
                + HOUR
                + ", nodes: 2, gpus_per_node: 4, gpu_type: h100, cpus_per_task: 8, memory: 64G}\n",
            "");

    // 8 GPUs x 1.025 h = 8.2 x 5.50 = 45.10; 16 CPUs: 16.4 x 0.04 = 0.656; 128 GiB: 131.2 x 0.005 =
    // 0.656
    assertLines(
        estimate,
        "gpu:h100 8.2000 gpu_hour 45.10",
        "cpu 16.4000 cpu_hour 0.66",
        "memory 131.2000 gib_hour 0.66");
    assertThat(estimate.total()).hasToString("46.42 USD");
  }

  /** Slurm 22.05 gave each of these what stands behind it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nodes: 2, ntasks: 5, ntasks_per_node: 3, gpus_per_task: 2, cpus_per_task: 3 | 18 | 12",
        "nodes: 2, ntasks: 5, ntasks_per_node: 4, gpus_per_task: 2, cpus_per_task: 4 | 32 | 16",
        "ntasks: 5, ntasks_per_node: 3, gpus_per_task: 2, cpus_per_task: 4 | 24 | 12",
        "ntasks: 2, ntasks_per_node: 4, gpus: 1, cpus_per_task: 4 | 16 | 1",
        "nodes: 2, ntasks: 8, ntasks_per_node: 4, gpus_per_task: 1, cpus_per_task: 2 | 16 | 8",
      })
  void aJobWithGpusGetsRoomForTheProcessesOfWholeNodes(String keys, int cpus, int gpus) {
    Estimate estimate =
        estimate("resources: {" + HOUR + ", gpu_type: h100, memory: 1G, " + keys + "}\n", "");

    BigDecimal hours = new BigDecimal("1.025");
    assertThat(quantity(estimate, "cpu"))
        .isGreaterThanOrEqualTo(hours.multiply(BigDecimal.valueOf(cpus)));
    assertThat(quantity(estimate, "gpu:h100"))
        .isEqualByComparingTo(hours.multiply(BigDecimal.valueOf(gpus)));
  }

  private static BigDecimal quantity(Estimate estimate, String what) {
    return estimate.reservation().stream()
        .filter(line -> line.what().equals(what))
        .findFirst()
        .orElseThrow()
        .quantity();
  }

  @Test
  void tasksOfAnArrayAreMultipliedBeforeTheyAreRounded() {
    Estimate estimate =
        estimate(
            "array: {shards: 64, max_parallel: 8}\nresources: {" + HOUR + ", memory: 1G}\n", "");

    // 64 x 1.025 h = 65.6; x 0.04 = 2.624; x 0.005 = 0.328. One by one it would be 64 x 0.04 =
    // 2.56.
    assertLines(estimate, "cpu 65.6000 cpu_hour 2.62", "memory 65.6000 gib_hour 0.33");
    assertThat(estimate.tasks()).isEqualTo(64);
    assertThat(estimate.total()).hasToString("2.95 USD");
  }

  @Test
  void eachRequeueThatIsAllowedIsOneMoreAttempt() {
    Estimate estimate = estimate("requeues: 2\nresources: {" + HOUR + ", memory: 1G}\n", "");

    // 3 x 1.025 h = 3.075; x 0.04 = 0.123; x 0.005 = 0.015375
    assertLines(estimate, "cpu 3.0750 cpu_hour 0.12", "memory 3.0750 gib_hour 0.02");
    assertThat(estimate.attempts()).isEqualTo(3);
  }

  @Test
  void anAttemptThatGrowsCountsWithTheSizeThatItCanReach() {
    String grow = "grow: {memory: {up_to: 3G}, time: {by: 1.5, up_to: 100m}}\n";
    Estimate estimate =
        estimate("requeues: 3\n" + grow + "resources: {" + HOUR + ", memory: 1G}\n", "");

    // 60, 90, 100 and 100 min, each 90 s more: 3690 + 5490 + 6090 + 6090 s = 5.9333 h
    // 1, 2, 3 and 3 GiB: (3690 + 10980 + 18270 + 18270) / 3600 = 14.225
    assertLines(estimate, "cpu 5.9333 cpu_hour 0.24", "memory 14.2250 gib_hour 0.07");
    assertThat(estimate.attempts()).isEqualTo(4);
    assertThat(estimate.timeLimitSeconds()).isEqualTo(3600);
    assertThat(estimate.longestAttemptSeconds()).isEqualTo(6090);
  }

  @Test
  void nothingGrowsBeyondTheNodesAndTheTimesOfThePartition() {
    String grow = "requeues: 2\ngrow: {memory: {up_to: 1T}, time: {up_to: 10h}}\n";
    Estimate estimate =
        estimate(
            grow + "resources: {" + HOUR + ", memory: 4G, partition: cpu}\n",
            "partitions: {cpu: {memory_per_node: 6G, max_time: 90m, max_memory_per_cpu: 2G}}\n");

    // The memory of 4 and 6 GiB needs 2 and 3 CPUs: 2 x 3690 + 3 x 5490 + 3 x 5490 s
    assertLines(estimate, "cpu 11.2000 cpu_hour 0.45", "memory 22.4000 gib_hour 0.11");
    assertThat(estimate.longestAttemptSeconds()).isEqualTo(5490);
  }

  @Test
  void overTimeLimitAndKillWaitAreThoseOfTheCluster() {
    Estimate estimate =
        estimate(
            "resources: {" + HOUR + ", memory: 1G}\n",
            "slurm: {over_time_limit_minutes: 10, kill_wait_seconds: 300}\n");

    // 3600 + 600 + 300 + 60 = 4560 s = 1.2667 h; x 0.04 = 0.050667; x 0.005 = 0.006333
    assertThat(estimate.longestAttemptSeconds()).isEqualTo(4560);
    assertLines(estimate, "cpu 1.2667 cpu_hour 0.05", "memory 1.2667 gib_hour 0.01");
  }

  @Test
  void wholeNodesCountWhereThePartitionIsExclusive() {
    Estimate estimate =
        estimate(
            "resources: {" + HOUR + ", partition: gpu, gpus_per_node: 1, gpu_type: h100}\n",
            "partitions: {gpu: {exclusive: true, cpus_per_node: 96, gpus_per_node: 8, memory_per_node: 1T}}\n");

    // 8 x 1.025 = 8.2 x 5.50 = 45.10; 96 x 1.025 = 98.4 x 0.04 = 3.936; 4 x 1.025 = 4.1 x 0.005 =
    // 0.0205: no more memory than the default
    assertLines(
        estimate,
        "gpu:h100 8.2000 gpu_hour 45.10",
        "cpu 98.4000 cpu_hour 3.94",
        "memory 4.1000 gib_hour 0.02");
  }

  @Test
  void theTotalIsTheSumOfRoundedLines() {
    Rates thirds =
        new Rates(
            "book",
            "2026-11-01",
            "d1",
            "USD",
            Map.of(),
            Map.of(PricedUnit.CPU, price("0.0044"), PricedUnit.MEMORY, price("0.0044")),
            BillingMode.PLAIN,
            Map.of());

    // 1.025 x 0.0044 = 0.00451 twice: each rounds to 0.00, although together they are 0.00902.
    Estimate estimate =
        Estimate.of(
            Plans.of(RUN + "resources: {" + HOUR + ", memory: 1G}\n", Plans.CLUSTER), thirds);

    assertLines(estimate, "cpu 1.0250 cpu_hour 0.00", "memory 1.0250 gib_hour 0.00");
    assertThat(estimate.total()).hasToString("0.00 USD");
  }

  @Test
  void anUnknownGpuTypeIsAnErrorThatNamesThoseThereAre() {
    assertThatThrownBy(
            () -> estimate("resources: {" + HOUR + ", gpus_per_node: 1, gpu_type: h1000}\n", ""))
        .isInstanceOfSatisfying(
            NexaException.class,
            wrong -> {
              assertThat(wrong)
                  .hasMessage(
                      "price book 'book' has no price for GPU type 'h1000'; it has a100, h100");
              assertThat(wrong.advice())
                  .contains(
                      Advice.step("for a new run: add gpu_hour.h1000 to configs/prices/book.yaml"));
              assertThat(wrong.exitCode()).isEqualTo(ExitCode.USAGE);
            });
  }

  @Test
  void aCurrencyWithoutCentsHasNone() {
    Rates yen =
        new Rates(
            "book",
            "2026-11-01",
            "d1",
            "JPY",
            Map.of(),
            Map.of(PricedUnit.CPU, price("6")),
            BillingMode.PLAIN,
            Map.of());

    Estimate estimate =
        Estimate.of(Plans.of(RUN + "resources: {" + HOUR + "}\n", Plans.CLUSTER), yen);

    // 1.025 x 6 = 6.15
    assertLines(estimate, "cpu 1.0250 cpu_hour 6");
    assertThat(estimate.total()).hasToString("6 JPY");
  }

  @Test
  void aMillionTasksForAYearAreCountedExactly() {
    Estimate estimate =
        estimate(
            "array: {shards: 1000000}\nresources: {time: 365d, cpus_per_task: 128, memory: 2T}\n",
            "slurm: {max_array_size: 4000001}\n");

    assertThat(estimate.usage().cpuSeconds()).isEqualTo(1_000_000L * (31_536_000L + 90) * 128);
    assertThat(estimate.total().amount()).isGreaterThan(new BigDecimal("1E10"));
  }

  @Test
  void whatIsMoreThanCanBeCountedIsRefusedAndNeverASmallNumber() {
    assertThatThrownBy(
            () ->
                estimate(
                    "array: {shards: 4000000}\nrequeues: 3\n"
                        + "resources: {time: 365d, nodes: 100000, cpus_per_task: 4096}\n",
                    "slurm: {max_array_size: 4000001}\n"))
        .isInstanceOfSatisfying(
            NexaException.class,
            wrong -> {
              assertThat(wrong).hasMessageEndingWith("this asks for more than can be counted");
              assertThat(wrong.exitCode()).isEqualTo(ExitCode.USAGE);
            });
    assertThatThrownBy(
            () -> estimate("resources: {" + HOUR + ", nodes: 100000, memory: 1000000T}\n", ""))
        .isInstanceOf(NexaException.class)
        .hasMessageEndingWith(
            "run.yaml:4:47: resources.memory: over all nodes it is more than can be counted");
  }

  @Test
  void theDocumentSaysWhatWasMeantAndKeepsTheRates() {
    Estimate estimate = estimate("resources: {" + HOUR + ", memory: 1G}\n", "");

    var json = Json.parseObject(Json.pretty(EstimateFile.of(estimate, true).json()));

    assertThat(json.members().keySet())
        .contains(
            "config_digest",
            "currency",
            "price_book",
            "tasks",
            "time_limit_seconds",
            "gpu_hours",
            "cpu_hours",
            "reservation",
            "expected",
            "approval_needed");
    assertThat(json.object("price_book"))
        .hasToString("{\"name\":\"book\",\"as_of\":\"2026-11-01\",\"digest\":\"d1\"}");
    assertThat(json.object("reservation").text("total")).isEqualTo("0.05");
    assertThat(json.object("reservation").objects("lines").get(0).members().keySet())
        .containsExactly("what", "quantity", "unit", "unit_price", "source", "amount");
    assertThat(json.flag("approval_needed")).isTrue();
    assertThat(Rates.fromJson(json.object("rates"))).isEqualTo(RATES);
  }

  private static Estimate estimate(String lines, String cluster) {
    return Estimate.of(Plans.of(RUN + lines, Plans.CLUSTER + cluster), RATES);
  }

  private static void assertLines(Estimate estimate, String... lines) {
    assertThat(estimate.reservation())
        .extracting(
            line ->
                line.what()
                    + " "
                    + line.quantity()
                    + " "
                    + line.unit()
                    + " "
                    + line.amount().amount())
        .containsExactly(lines);
  }

  private static Price price(String amount) {
    return new Price(new BigDecimal(amount), "list of 2026");
  }
}
