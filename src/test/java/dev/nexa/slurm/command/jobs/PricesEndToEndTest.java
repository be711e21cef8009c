package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What is promised before a submit is what the run is settled at, whatever becomes of prices. */
@Execution(ExecutionMode.CONCURRENT)
class PricesEndToEndTest {
  private static final String JOB =
      """
      stage: data
      backend: shell
      run: sleep 2
      resources: {cpus_per_task: 2, memory: 1G, time: 2m}
      """;

  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    Files.writeString(workspace.resolve("job.yaml"), JOB);
  }

  private void prices(String text) throws IOException {
    Path book = workspace.resolve("configs/prices/default.yaml");
    Files.createDirectories(book.getParent());
    Files.writeString(book, "currency: USD\nas_of: 2026-01-01\n" + text);
  }

  @Test
  void aRunIsSettledAtThePricesItWasPromised() throws Exception {
    prices(
        """
        cpu_hour: {price: 100, source: list of 2026}
        overrides:
          - match: {cluster: local}
            cpu_hour: {price: 180, source: this machine}
            discount: {percent: 50, source: agreement of 2026}
        """);
    JsonObject run = person.submit("job.yaml", "--local");
    prices("cpu_hour: {price: 1, source: a newer list}\n");

    person.finish(run);

    JsonObject cost = person.cost(run);
    JsonObject line = cost.object("actual").objects("lines").get(0);
    assertThat(line.text("unit_price")).isEqualTo("90");
    assertThat(line.text("source")).isEqualTo("this machine; 180 less 50 %: agreement of 2026");
    assertThat(cost.decimal("total")).isGreaterThan(new BigDecimal("0.09"));
    assertPartsAddUp(cost);
    assertThat(person.says("audit", run.text("run_id"))).contains("0 differences");
    assertThat(person.says("prices", "show", "--cluster", "local")).contains("a newer list");
  }

  @Test
  void billingUnitsAreCpusWhereThereIsNoSlurm() throws Exception {
    prices("billing_hour: {price: 180, source: list of 2026}\n");

    JsonObject run = person.submitAndWait("job.yaml", "--local");

    JsonObject line = person.cost(run).object("actual").objects("lines").get(0);
    assertThat(line.text("what")).isEqualTo("billing");
    assertThat(person.cost(run).decimal("total")).isGreaterThan(new BigDecimal("0.15"));
    assertPartsAddUp(person.cost(run));
  }

  @Test
  @Tag("slurm")
  @ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
  void billingUnitsAreThoseThatSlurmTells() throws Exception {
    person.slurmProfile(
        """
        health_check: false
        partitions:
          cpu: {billing_weights: "CPU=3"}
        """);
    prices("billing_hour: {price: 180, source: list of 2026}\n");

    JsonObject run = person.submitAndWait("job.yaml", "--set", "resources.partition=cpu");

    // The profile says three units a CPU, which is reserved; this Slurm bills one, which is paid.
    JsonObject cost = person.cost(run);
    JsonObject actual = cost.object("actual");
    long seconds = actual.objects("attempts").get(0).number("elapsed_seconds");
    assertThat(cost.decimal("total")).isEqualByComparingTo(BigDecimal.valueOf(seconds, 1));
    assertThat(new BigDecimal(cost.object("difference_parts").text("held_otherwise")))
        .isEqualByComparingTo(BigDecimal.valueOf(-2 * seconds, 1));
    assertPartsAddUp(cost);
  }

  private static void assertPartsAddUp(JsonObject cost) {
    BigDecimal sum = BigDecimal.ZERO;
    JsonObject parts = cost.object("difference_parts");
    for (String name : parts.members().keySet()) {
      sum = sum.add(new BigDecimal(parts.text(name)));
    }
    assertThat(sum).isEqualByComparingTo(cost.text("difference"));
    assertThat(cost.object("estimate").text("promised"))
        .isEqualTo(cost.object("estimate").text("reservation"));
  }
}
