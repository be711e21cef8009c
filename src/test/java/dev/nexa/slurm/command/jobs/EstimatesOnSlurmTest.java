package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Thirty real runs of different lengths: what was said of them against their cost files. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
@Tag("full")
class EstimatesOnSlurmTest {
  private static final int RUNS = 30;

  /** Those of the next wave are estimated by those before. */
  private static final int TOGETHER = 5;

  @TempDir Path workspace;

  @Test
  void noRunCostsMoreThanWasReservedAndTheP90CoversNineOfTen() throws Exception {
    Person person = new Person(workspace);
    person.slurmProfile("price_book: dear\nslurm: {kill_wait_seconds: 5}\n");
    dearPrices();
    SplittableRandom random = new SplittableRandom(20261122);
    int over = 0;
    int timedOut = 0;
    int promised = 0;
    int covered = 0;
    for (int wave = 0; wave < RUNS; wave += TOGETHER) {
      List<JsonObject> submitted = new ArrayList<>();
      for (int run = wave; run < wave + TOGETHER; run++) {
        String sleep = "env.SECONDS_TO_SLEEP=" + seconds(random, run);
        submitted.add(person.submit("run.yaml", "--set", sleep));
      }
      for (JsonObject run : submitted) {
        timedOut += person.finish(run).text("state").equals("timeout") ? 1 : 0;
        JsonObject cost = person.cost(run);
        BigDecimal total = cost.decimal("total");
        JsonObject said = cost.object("estimate");
        over += total.compareTo(new BigDecimal(said.text("reservation"))) > 0 ? 1 : 0;
        Optional<JsonObject> expected = said.optionalObject("expected");
        if (expected.isPresent()) {
          promised++;
          covered += total.compareTo(new BigDecimal(expected.get().text("high"))) <= 0 ? 1 : 0;
        }
      }
    }
    System.out.printf(
        "%d runs on Slurm, %d timed out, %d over their reservation; P90 covers %d of %d%n",
        RUNS, timedOut, over, covered, promised);

    assertThat(over).as("runs over their reservation").isZero();
    assertThat(timedOut).as("runs ended by their limit").isEqualTo(2);
    assertThat(promised).isEqualTo(RUNS - TOGETHER);
    // Of 25, nine of ten are 22.5; of a hundred such sets one has fewer than 19.
    assertThat(covered).isGreaterThanOrEqualTo(19);
    JsonObject estimate = person.json("estimate", "run.yaml", "--cluster", "test", "--json");
    assertThat(estimate.object("expected").text("method")).isEqualTo("history");
    assertThat(estimate.object("expected").number("similar")).isEqualTo(RUNS);
    assertThat(estimate.object("accuracy").number("runs")).isEqualTo(24);
    assertThat(estimate.object("start").text("basis")).isEqualTo("sbatch --test-only");
  }

  /** Mostly short, some of another kind, a few far too long. */
  private static long seconds(SplittableRandom random, int run) {
    if (run == 11 || run == 13) {
      return 200;
    }
    return random.nextInt(4) == 0 ? 12 + random.nextInt(6) : 3 + random.nextInt(4);
  }

  private void dearPrices() throws IOException {
    Files.createDirectories(workspace.resolve("configs/prices"));
    Files.writeString(
        workspace.resolve("configs/prices/dear.yaml"),
        "currency: USD\nas_of: 2025-11-01\n"
            + "gpu_hour: {h100: {price: 36000, source: test}}\n"
            + "cpu_hour: {price: 3600, source: test}\n");
    Files.writeString(
        workspace.resolve("configs/policy.yaml"),
        "approval_over: {amount: 100000000, currency: USD}\n");
    Files.writeString(
        workspace.resolve("run.yaml"),
        """
        stage: train
        backend: shell
        model_name: sleeper
        env: {SECONDS_TO_SLEEP: 1}
        run: |
          sleep "$SECONDS_TO_SLEEP"
        resources: {cpus_per_task: 1, memory: 100M, gpus_per_node: 1, gpu_type: h100, time: 1m}
        """);
  }
}
