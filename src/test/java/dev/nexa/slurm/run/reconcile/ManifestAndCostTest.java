package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.RunCost;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.results.TaskResults;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Manifests and cost records as files to look at: src/test/resources/golden/reconcile. */
class ManifestAndCostTest {
  private static final String CONFIRMED = "created submitting submitted confirmed";

  /**
   * A run at some point of its life.
   *
   * @param journal its events
   * @param rows its accounting
   * @param queue what the scheduler holds
   */
  record Life(
      String name, RunFacts facts, String journal, String rows, String queue, JsonObject metrics) {
    RunState state() {
      return Facts.journal(facts.tasks(), journal);
    }

    RunOutcome outcome() {
      return RunOutcome.of(
          facts,
          state(),
          Rows.accounting(rows),
          Rows.queue(queue),
          Map.of(),
          Rows.NOON.plusSeconds(10_000));
    }

    JsonObject manifest() {
      return RunRecords.manifest(facts, state(), outcome(), sum(), results()).json();
    }

    JsonObject cost() {
      return CostRecord.of(
              facts, state(), outcome(), sum(), results(), EnumSet.of(JobState.NODE_FAIL))
          .json();
    }

    private RunCost sum() {
      return CostRecord.cost(facts, state(), outcome(), results());
    }

    private TaskResults results() {
      return new TaskResults(metrics, Map.of(0, metrics), List.of());
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static List<Life> lives() {
    JsonObject none = new JsonObject();
    JsonObject metrics =
        new JsonObject()
            .with("checkpoint", "/durable/final.pt")
            .with("eval_report", "/durable/eval.json")
            .with("loss", new BigDecimal("0.25"))
            .with("wandb_run_id", "abc");
    return List.of(
        new Life(
            "submitted",
            Facts.of(2, 0),
            "created submitting submitted",
            "",
            "0 PENDING; 1 PENDING",
            none),
        new Life(
            "running",
            Facts.of(2, 0),
            CONFIRMED,
            "0 COMPLETED 10-70; 1 RUNNING 10-",
            "1 RUNNING",
            none),
        new Life("completed", Facts.of(1, 0), CONFIRMED, "0 COMPLETED 10-3610", "", metrics),
        new Life(
            "requeued",
            Facts.of(1, 2),
            CONFIRMED,
            "0 REQUEUED 10-1810; 0 COMPLETED 1930-3730",
            "",
            metrics),
        new Life(
            "failed", Facts.of(2, 0), CONFIRMED, "0 COMPLETED 10-70; 1 TIMEOUT 10-700", "", none),
        new Life(
            "node-failed",
            Facts.of(1, 2),
            CONFIRMED,
            "0 NODE_FAIL 10-1810; 0 COMPLETED 1930-3730",
            "",
            new JsonObject().with("gpu_utilization", new BigDecimal("0.75"))),
        new Life(
            "kept-and-green",
            Facts.keptAndGreen(),
            CONFIRMED + " measured",
            "0 COMPLETED 10-3610",
            "",
            none),
        new Life(
            "sent-out",
            Facts.of(1, 0),
            CONFIRMED,
            "0 COMPLETED 10-3610",
            "",
            new JsonObject().with("egress_bytes", new BigDecimal("2500000000"))),
        new Life(
            "taught",
            Facts.calling(1),
            CONFIRMED,
            "0 COMPLETED 10-3610",
            "",
            new JsonObject()
                .with("api_input_tokens", new BigDecimal("3000000"))
                .with("api_output_tokens", new BigDecimal("1234567"))),
        new Life(
            "taught-and-killed",
            Facts.calling(1),
            CONFIRMED,
            "0 FAILED 10-3610",
            "",
            new JsonObject()
                .with("api_input_tokens", new BigDecimal("3000000"))
                .with("api_output_tokens", new BigDecimal("1234567"))
                .with("api_unknown_requests", new BigDecimal("2"))
                .with("api_unknown_input_tokens", new BigDecimal("300"))
                .with("api_unknown_output_tokens", new BigDecimal("40960"))
                .with("api_tokens_open", true)),
        new Life("cancelled", Facts.of(4, 0), CONFIRMED, "0-3 CANCELLED by 1000 -70", "", none),
        new Life("refused", Facts.of(1, 0), "created submitting refused", "", "", none),
        new Life(
            "in-yen", Facts.of(1, 0, Facts.inYen()), CONFIRMED, "0 COMPLETED 10-3610", "", none));
  }

  @ParameterizedTest
  @MethodSource("lives")
  void theManifestIsTheSeedsKeysAndThenOurs(Life life) {
    Golden.check("reconcile/manifest-" + life + ".json", Json.pretty(life.manifest()));
    assertThat(life.manifest().members().keySet())
        .startsWith(
            "run_id",
            "stage",
            "status",
            "model",
            "dataset",
            "checkpoint",
            "logs",
            "eval_report",
            "hardware",
            "cost_usd",
            "tags",
            "wandb_run_id");
  }

  @ParameterizedTest
  @MethodSource("lives")
  void theCostRecordIsTheSeedsKeysAndThenOurs(Life life) {
    Golden.check("reconcile/cost-" + life + ".json", Json.pretty(life.cost()));
    assertThat(life.cost().members().keySet()).startsWith("run_id", "breakdown", "total");
  }

  @ParameterizedTest
  @MethodSource("lives")
  void bothFitTheirPublishedSchema(Life life) {
    assertThat(problems("manifest.schema.json", life.manifest())).isEmpty();
    assertThat(problems("cost.schema.json", life.cost())).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("lives")
  void theBreakdownAddsUpToTheTotalAndTheLinesToBoth(Life life) {
    JsonObject cost = life.cost();
    JsonObject breakdown = cost.object("breakdown");
    BigDecimal tokens = breakdown.optionalDecimal("api_tokens").orElse(BigDecimal.ZERO);
    BigDecimal lines =
        cost.object("actual").objects("lines").stream()
            .map(line -> new BigDecimal(line.text("amount")))
            .reduce(BigDecimal.ZERO, BigDecimal::add);

    assertThat(
            breakdown
                .decimal("compute_hours")
                .add(breakdown.decimal("storage_gb_month"))
                .add(breakdown.decimal("egress_gb"))
                .add(tokens))
        .isEqualByComparingTo(cost.decimal("total"))
        .isEqualByComparingTo(lines);
    assertThat(new BigDecimal(cost.text("difference")))
        .isEqualByComparingTo(
            breakdown
                .decimal("compute_hours")
                .add(tokens)
                .subtract(new BigDecimal(cost.object("estimate").text("reservation"))));
  }

  @ParameterizedTest
  @MethodSource("lives")
  void theSameFactsAreTheSameBytes(Life life) {
    assertThat(Json.pretty(life.manifest())).isEqualTo(Json.pretty(life.manifest()));
    assertThat(Json.pretty(life.cost())).isEqualTo(Json.pretty(life.cost()));
  }

  /** One hour of 2 GPUs, 4 CPUs and 8 GiB: 11.00 + 0.16 + 0.04. */
  @Test
  void anHourCostsWhatTheBookSays() {
    Life life =
        new Life("hour", Facts.of(1, 0), CONFIRMED, "0 COMPLETED 10-3610", "", new JsonObject());

    assertThat(
            CostRecord.cost(life.facts(), life.state(), life.outcome(), TaskResults.NONE).total())
        .hasToString("11.20 USD");
    assertThat(life.manifest().decimal("cost_usd")).isEqualTo(new BigDecimal("11.20"));
    assertThat(life.cost().text("wasted")).isEqualTo("0.00");
  }

  /** 2.5 GB at 0.09: 0.225, rounded half-even. */
  @Test
  void whatWasSentOutIsPricedOnceTheRunIsOver() {
    JsonObject sent = new JsonObject().with("egress_bytes", new BigDecimal("2500000000"));
    Life over = new Life("sent", Facts.of(1, 0), CONFIRMED, "0 COMPLETED 10-3610", "", sent);
    Life running = new Life("sends", Facts.of(1, 0), CONFIRMED, "0 RUNNING 10-", "0 RUNNING", sent);
    Life unpriced =
        new Life("yen", Facts.of(1, 0, Facts.inYen()), CONFIRMED, "0 FAILED 10-3610", "", sent);

    assertThat(over.cost().object("breakdown").decimal("egress_gb")).isEqualByComparingTo("0.22");
    assertThat(over.cost().decimal("total")).isEqualByComparingTo("11.42");
    assertThat(over.manifest().decimal("cost_usd")).isEqualByComparingTo("11.42");
    assertThat(over.cost().texts("not_measured")).containsExactly("storage_gb_month");
    assertThat(running.cost().decimal("total")).isZero();
    assertThat(unpriced.cost().texts("not_measured")).contains("egress_gb");
    assertThat(Rates.fromJson(over.facts().rates().toJson())).isEqualTo(over.facts().rates());
  }

  /** An hour of two H100 at 700 W, times the PUE of 1.2: 1.68 kWh at 0.50. */
  @Test
  void energyIsPricedOnceTheRunIsOver() {
    JsonObject none = new JsonObject();
    RunFacts facts = Facts.payingFor(PricedUnit.ENERGY, "0.50");
    Life over = new Life("used", facts, CONFIRMED, "0 COMPLETED 10-3610", "", none);
    Life running = new Life("uses", facts, CONFIRMED, "0 RUNNING 10-", "0 RUNNING", none);
    Life unpriced = new Life("free", Facts.keptAndGreen(), CONFIRMED, "0 FAILED 10-3610", "", none);

    assertThat(over.cost().object("breakdown").decimal("energy_kwh")).isEqualByComparingTo("0.84");
    assertThat(over.cost().decimal("total")).isEqualByComparingTo("12.04");
    assertThat(over.cost().object("actual").objects("lines"))
        .anyMatch(
            line -> line.text("what").equals("energy") && line.text("quantity").equals("1.68"));
    assertThat(running.cost().decimal("total")).isZero();
    assertThat(running.cost().texts("not_measured")).contains("energy_kwh");
    assertThat(unpriced.cost().object("breakdown").members()).doesNotContainKey("energy_kwh");
    assertThat(unpriced.cost().texts("not_measured")).doesNotContain("energy_kwh");
    assertThat(Rates.fromJson(facts.rates().toJson())).isEqualTo(facts.rates());
  }

  @Test
  void inAnotherCurrencyTheDollarsAreUnknown() {
    Life life =
        new Life(
            "yen",
            Facts.of(1, 0, Facts.inYen()),
            CONFIRMED,
            "0 FAILED 10-3610",
            "",
            new JsonObject());

    assertThat(life.manifest().optionalDecimal("cost_usd")).isEmpty();
    assertThat(life.manifest().text("cost")).isEqualTo("1600");
    assertThat(life.manifest().text("currency")).isEqualTo("JPY");
    assertThat(life.cost().text("wasted")).isEqualTo("1600");
  }

  /** Files of earlier versions do not name what the cost lacks. */
  @Test
  void anAuditComparesOnlyTheMembersThatAnEarlierVersionKnew() {
    Life killed =
        lives().stream().filter(life -> life.name().equals("taught-and-killed")).findAny().get();
    Life other = lives().stream().filter(life -> life.name().equals("taught")).findAny().get();
    ManifestFile manifest = ManifestFile.parse(Json.pretty(killed.manifest()), "");
    ManifestFile oldManifest = ManifestFile.parse(Json.pretty(other.manifest()), "");
    CostFile cost = CostFile.parse(Json.pretty(killed.cost()), "");
    CostFile oldCost = CostFile.parse(Json.pretty(other.cost()), "");

    assertThat(manifest.comparableTo(oldManifest).members()).doesNotContainKey("cost_lacks");
    assertThat(manifest.comparableTo(manifest).text("cost_lacks"))
        .isEqualTo("tokens of 1 task, 2 unknown requests");
    assertThat(cost.comparableTo(oldCost).object("actual").members())
        .doesNotContainKey("unknown_tokens");
    assertThat(Json.pretty(cost.comparableTo(cost))).isEqualTo(cost.text());
  }

  private static List<String> problems(String schema, JsonObject document) {
    return SchemaCheck.problems(
        Json.parseObject(DurableFiles.read(Path.of("docs/schemas", schema))),
        Json.pretty(document));
  }
}
