package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.money.ledger.Lines;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What estimate says of a job, elsewhere, and of a change to it:
 * src/test/resources/golden/estimate.
 */
class EstimateCommandTest {
  private static final String RUN =
      """
      stage: train
      name: sft
      backend: shell
      model_name: mistral-7b
      run: train
      bf16: true
      strategy: fsdp
      resources: {gpus_per_node: 4, gpu_type: h100, cpus_per_task: 32, memory: 256G, time: 12h}
      """;

  @TempDir Path folder;

  private Terminal terminal;

  @Test
  void aHugeDifferenceIsANumberOfTimes() {
    terminal.file("short.yaml", RUN.replace("12h", "5m"));

    assertThat(terminal.type("estimate", "--diff", "short.yaml", "run.yaml").out())
        .containsPattern("\\(\\d+ times as much\\)")
        .doesNotContainPattern("\\d{4}\\.\\d %");
  }

  /** The config's file stays wrong in one place; the GPU type has no price in any of them. */
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "strategy: fsdp, 'strategie: fsdp', strategie: unknown key",
    "memory: 256G, memory: 256, resources.memory: a memory size needs a unit",
    "time: 12h, time: 12h, resources.gpus_per_node: you ask for 4 GPUs",
    "backend: shell, backend: shel, there is no backend 'shel'",
    "run: train, 'entrypoint: {script: none.py}', entrypoint",
  })
  void aMissingPriceComesWithTheOtherProblems(String right, String wrong, String said) {
    terminal.file(
        "configs/clusters/mine.yaml",
        """
        storage: {scratch: /scratch, durable: /durable, shared: /shared}
        default_partition: gpu
        partitions:
          gpu: {gpus_per_node: 2, gpu_type: b9000, cpus_per_node: 64, memory_per_node: 1T}
        """);
    terminal.file(
        "bad.yaml", RUN.replace("gpu_type: h100", "gpu_type: b9000").replace(right, wrong));

    Screen screen = terminal.type("estimate", "bad.yaml");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains(
            said,
            "resources.gpu_type: price book 'default' has no price for GPU type 'b9000'; it has ");
  }

  @Test
  void aComparisonFitsATerminal() {
    fortyRuns();
    terminal.with("COLUMNS", "80");

    String screen = terminal.atScreen("estimate", "run.yaml", "--compare");

    assertThat(screen.lines().takeWhile(line -> !line.isEmpty()))
        .as(screen)
        .allMatch(line -> line.length() <= 80)
        .anyMatch(line -> line.contains("as asked for"));
  }

  /** One CPU for a minute is not free, in any sentence and any table. */
  @Test
  void aSumBelowACentIsNotNothing() {
    terminal.file(
        "tiny.yaml",
        "stage: data\nbackend: shell\nrun: echo\nresources: {time: 1m, memory: 100M, partition: cpu}\n");

    assertThat(terminal.type("estimate", "tiny.yaml").out())
        .startsWith("Less than 0.01 USD: 1 task");
    assertThat(terminal.type("estimate", "tiny.yaml", "--compare").out())
        .contains("<0.01 USD")
        .doesNotContain("0.00 USD");
    assertThat(terminal.type("submit", "tiny.yaml").out()).contains(": less than 0.01 USD: 1 task");
    assertThat(
            terminal
                .type("estimate", "tiny.yaml", "--json")
                .json()
                .object("reservation")
                .text("total"))
        .isEqualTo("0.00");
  }

  /** The limit ends the task: it takes no longer, and costs no more. */
  @Test
  void aLimitBelowPastRunsCutsWhatIsProbable() {
    fortyRuns();

    JsonObject estimate =
        terminal.type("estimate", "run.yaml", "--set", "resources.time=10m", "--json").json();

    JsonObject expected = estimate.object("expected");
    assertThat(expected.number("run_seconds")).isLessThanOrEqualTo(600);
    assertThat(new BigDecimal(expected.text("high")))
        .isLessThan(new BigDecimal(estimate.object("reservation").text("total")));
    assertThat(expected.object("limit_too_short").text("sentence"))
        .contains("will probably not finish within 10 minutes");
  }

  @BeforeEach
  void aClusterOfTwoKindsOfGpus() {
    terminal = new Terminal(folder).withSlurm().with("NEXA_CLUSTER", "mine");
    terminal.file("run.yaml", RUN);
    terminal.file("longer.yaml", RUN.replace("12h", "24h") + "lr: 0.0001\n");
    terminal.file(
        "configs/clusters/mine.yaml",
        """
        storage: {scratch: /scratch, durable: /durable, shared: /shared}
        default_partition: gpu
        partitions:
          gpu: {gpus_per_node: 8, gpu_type: h100, cpus_per_node: 64, memory_per_node: 1T, max_nodes: 2}
          old: {gpus_per_node: 4, gpu_type: a100, cpus_per_node: 64, memory_per_node: 512G}
          cpu: {gpus_per_node: 0, cpus_per_node: 64, memory_per_node: 512G}
        """);
    terminal.program(
        "sbatch",
        "case \"$*\" in *h100:8*) echo 'allocation failure: Job violates accounting/QOS policy' >&2;"
            + " exit 1 ;; esac\n"
            + "echo 'sbatch: Job 1 to start at 0 using 1 processors on nodes n1 in partition gpu' >&2");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "first.txt, false, estimate run.yaml",
    "history.txt, true, estimate run.yaml",
    "history.json, true, estimate run.yaml --json",
    "compare-first.txt, false, estimate run.yaml --compare",
    "compare.txt, true, estimate run.yaml --compare",
    "compare.md, true, estimate run.yaml --compare --markdown",
    "compare.json, true, estimate run.yaml --compare --json",
    "diff.txt, true, estimate --diff run.yaml longer.yaml",
    "diff.md, true, estimate --diff run.yaml longer.yaml --markdown",
    "diff.json, true, estimate --diff run.yaml longer.yaml --json --fail-over 10000",
    "diff-set.txt, false, estimate --diff run.yaml run.yaml --set resources.gpus_per_node=8",
    "diff-nothing.md, false, estimate --diff run.yaml run.yaml --markdown",
  })
  void whatItPrints(String golden, boolean past, String command) {
    if (past) {
      fortyRuns();
    }

    Screen screen = terminal.type(command.split(" ", -1));

    assertThat(screen.err()).isEmpty();
    assertThat(screen.exit()).isZero();
    Golden.check("estimate/" + golden, anywhere(screen.out()));
  }

  /** Without who typed it, and without digests, which change with every line of a template. */
  private static String anywhere(String text) {
    return text.replaceAll("\\b[0-9a-f]{64}\\b", "DIGEST")
        .replaceAll("\"user\": \"[^\"]*\"", "\"user\": \"ada\"")
        .replaceAll("\"uid\": \\d+", "\"uid\": 1000");
  }

  @Test
  void aChangeThatCostsMoreThanTheThresholdEndsWithThree() {
    Screen screen =
        terminal.type("estimate", "--diff", "run.yaml", "longer.yaml", "--fail-over", "20%");

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err()).contains("over the threshold: ").endsWith(" is more than 20%\n");
    assertThat(
            terminal
                .type("estimate", "--diff", "longer.yaml", "run.yaml", "--fail-over", "0")
                .exit())
        .isZero();
  }

  @Test
  void theSameFileOfAnotherFolderIsNamedOnce() {
    terminal.file(".base/run.yaml", RUN.replace("12h", "6h"));

    assertThat(terminal.type("estimate", "--diff", ".base/run.yaml", "run.yaml").out())
        .startsWith("run.yaml: +147.36 USD");
  }

  @Test
  void aConfigIsHeldAgainstAnEarlierRun() {
    terminal.program("sbatch", "echo 4711");
    terminal.file("configs/policy.yaml", "approval_over: {amount: 10000, currency: USD}\n");
    String run = terminal.type("submit", "run.yaml", "--json").json().text("run_id");

    JsonObject diff = terminal.type("estimate", "--diff", "latest", "longer.yaml", "--json").json();

    assertThat(diff.text("before")).isEqualTo(run);
    assertThat(diff.objects("changes"))
        .extracting(change -> change.text("key"))
        .containsExactly("resources.time", "lr");
  }

  @Test
  void whatWasExpectedIsKeptWithTheRunAndInItsCostFile() {
    fortyRuns();
    terminal.program("sbatch", "echo 4711");
    terminal.file("configs/policy.yaml", "approval_over: {amount: 10000, currency: USD}\n");

    Screen told = terminal.type("submit", "run.yaml");
    JsonObject cost =
        Json.parseObject(
            DurableFiles.read(
                Path.of(
                    terminal
                        .type("submit", "run.yaml", "--json")
                        .json()
                        .object("files")
                        .text("cost"))));

    assertThat(told.out())
        .contains("\nprobably ")
        .contains("\nthe last 24 like this ended between ");
    JsonObject expected = cost.object("estimate").object("expected");
    assertThat(expected.text("method")).isEqualTo("history");
    assertThat(expected.number("similar")).isEqualTo(40);
    assertThat(expected.members()).doesNotContainKey("runs");
  }

  @Test
  void pastRunsOfAModelOfAnotherSizeTellNothing() {
    fortyRuns();

    assertThat(said("--set", "model_size=70B")).contains("not known: no past run like this yet");
    assertThat(said("--set", "model_size=7b")).contains("P50 and P90 of 40 past runs");
  }

  @Test
  void theSizeOfAPastRunIsThatOfItsOwnPlan() {
    fortyRuns();
    for (int i = 10; i < 50; i++) {
      terminal.file(
          "runs/train_20250101_0000" + i + "/plan.json", "{\"training\":{\"model_size\":\"70B\"}}");
    }

    assertThat(said("--set", "model_size=70B")).contains("P50 and P90 of 40 past runs");
    assertThat(said("--set", "model_size=7B")).contains("no past run like this yet");
  }

  /** HF's Trainer refuses bf16 there. With fp16 the same rows compare. */
  @ParameterizedTest(name = "{0}")
  @CsvSource({"bf16, false", "fp16, true"})
  void aGpuWithoutThePrecisionIsNeverAdvised(String precision, boolean compares) {
    terminal.file(
        "configs/clusters/mine.yaml",
        """
        storage: {scratch: /scratch, durable: /durable, shared: /shared}
        default_partition: gpu
        partitions:
          gpu: {gpus_per_node: 8, gpu_type: h100, cpus_per_node: 64, memory_per_node: 1T}
          p_v100: {gpus_per_node: 8, gpu_type: v100_32gb, cpus_per_node: 64, memory_per_node: 1T}
          p_t4: {gpus_per_node: 8, gpu_type: t4, cpus_per_node: 64, memory_per_node: 1T}
        """);
    terminal.file(
        "configs/prices/default.yaml",
        """
        currency: USD
        as_of: 2026-01-01
        gpu_hour:
          h100: {price: 5.50, source: test}
          v100_32gb: {price: 0.05, source: test}
          t4: {price: 0.01, source: test}
        cpu_hour: {price: 0, source: test}
        memory_gib_hour: {price: 0, source: test}
        """);

    JsonObject all =
        terminal
            .type(
                "estimate",
                "run.yaml",
                "--compare",
                "--json",
                "--set",
                "bf16=" + precision.equals("bf16"),
                "--set",
                "fp16=" + precision.equals("fp16"),
                "--set",
                "estimate.tokens=10M")
            .json();

    List<JsonObject> old =
        all.objects("offers").stream()
            .filter(offer -> offer.optionalText("partition").orElse("").startsWith("p_"))
            .toList();
    assertThat(old).hasSizeGreaterThan(2);
    assertThat(old)
        .allSatisfy(
            offer -> {
              assertThat(offer.flag("fits")).isEqualTo(compares);
              if (!compares) {
                assertThat(offer.text("misfit")).contains(" has no bf16 (configs/gpus.yaml)");
                assertThat(offer.flag("cheapest") || offer.flag("fastest")).isFalse();
              }
            });
    assertThat(old.stream().anyMatch(offer -> offer.flag("cheapest"))).isEqualTo(compares);
    // A row that is scaled to another GPU keeps the width of its range.
    assertThat(all.objects("offers"))
        .filteredOn(offer -> offer.optionalObject("expected").isPresent())
        .allSatisfy(
            offer -> {
              JsonObject expected = offer.object("expected");
              assertThat(new BigDecimal(expected.text("low")))
                  .isLessThan(new BigDecimal(expected.text("high")));
            });
  }

  @Test
  void aShorterLimitIsAdvisedByRunsOfThisVeryJobOnly() {
    fortyRuns();

    assertThat(said("--compare")).contains("A limit of 0-01:20:00 would lower");
    assertThat(said("--compare", "--set", "name=other"))
        .contains("Basis: P50 and P90 of 40 past runs of the same stage, backend, model and GPU")
        .doesNotContain("A limit of");
  }

  @Test
  void countsAreTypedAsNumbersAndInSmallLettersToo() {
    for (String tokens : List.of("120000", "120k", "0.12M")) {
      assertThat(
              terminal
                  .type("estimate", "run.yaml", "--json", "--set", "estimate.tokens=" + tokens)
                  .json()
                  .object("data")
                  .number("tokens"))
          .isEqualTo(120_000);
    }
  }

  private String said(String... options) {
    List<String> words = new ArrayList<>(List.of("estimate", "run.yaml"));
    words.addAll(List.of(options));
    return terminal.type(words.toArray(new String[0])).out();
  }

  @Test
  void questionsThatDoNotGoTogetherAreRefused() {
    for (String wrong :
        List.of(
            "estimate run.yaml --compare --diff run.yaml",
            "estimate run.yaml --fail-over 5",
            "estimate run.yaml --markdown",
            "estimate run.yaml --compare --markdown --json",
            "estimate run.yaml --diff longer.yaml --fail-over much",
            "estimate run.yaml --diff train_20200101_000000")) {
      assertThat(terminal.type(wrong.split(" ", -1)).exit()).as(wrong).isEqualTo(2);
    }
  }

  @Test
  void withoutSlurmNoStartIsTold() {
    Terminal bare = new Terminal(folder.resolve("bare"));
    bare.file("run.yaml", "stage: data\nbackend: shell\nrun: echo\nresources: {time: 5m}\n");

    assertThat(bare.type("estimate", "run.yaml").out()).doesNotContain("ould start");
    assertThat(bare.type("estimate", "run.yaml", "--json").json().members().get("start")).isNull();
  }

  /** Each of about an hour on four GPUs; two took four. */
  private void fortyRuns() {
    JsonObject[] lines = new JsonObject[40];
    for (int i = 0; i < lines.length; i++) {
      long seconds = i == 7 || i == 30 ? 14_400 : 3600 + 20 * (i % 9);
      lines[i] =
          Lines.line(
              "'run_id': 'train_20250101_0000"
                  + (10 + i)
                  + "', 'stage': 'train', 'status': 'completed', 'state': 'completed',"
                  + " 'model': 'mistral-7b', 'backend': 'shell', 'tags': ['experiment:sft'],"
                  + " 'cluster': 'mine', 'gpu_type': 'h100', 'currency': 'USD', 'cost': '"
                  + seconds * 22 / 3600
                  + ".00', 'reservation': '268.00', 'expected': '22.00', 'tasks': 1, 'gpu_seconds': "
                  + 4 * seconds
                  + ", 'cpu_seconds': "
                  + 32 * seconds
                  + ", 'attempts': 1, 'longest_seconds': "
                  + seconds
                  + ", 'gpus': 4, 'cpus': 32");
    }
    Lines.write(terminal.workspace, YearMonth.now(ZoneOffset.UTC).toString(), lines);
  }
}
