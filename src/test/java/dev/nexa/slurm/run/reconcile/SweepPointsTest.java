package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.records.documents.RunCost;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.results.TaskResults;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SweepPointsTest {
  private static final List<JsonObject> POINTS =
      List.of(
          new JsonObject().with("lr", new BigDecimal("1e-5")).with("options.use-x", true),
          new JsonObject().with("lr", new BigDecimal("2e-5")));

  @Test
  void eachTaskHasItsPointItsStateAndItsOwnMetrics() {
    assertThat(points().toString())
        .isEqualTo(
            "[{\"task\":0,\"state\":\"completed\",\"values\":{\"lr\":0.00001,\"options.use-x\":true},"
                + "\"tags\":[\"lr:0.00001\",\"use_x:true\"],\"metrics\":{\"loss\":0.5}}, "
                + "{\"task\":1,\"state\":\"timeout\",\"values\":{\"lr\":0.00002},"
                + "\"tags\":[\"lr:0.00002\"]}]");
  }

  @Test
  void aManifestWithPointsFitsItsSchema() {
    RunFacts facts = Facts.of(2, 0);
    RunState state = Facts.journal(2, "created submitting submitted confirmed");
    RunOutcome outcome = outcome(facts, state);
    TaskResults none = new TaskResults(new JsonObject(), Map.of(), List.of());
    RunCost cost = CostRecord.cost(facts, state, outcome, none);
    JsonObject manifest =
        RunRecords.manifest(facts, state, outcome, cost, none).points(points()).json();
    JsonObject schema =
        Json.parseObject(DurableFiles.read(Path.of("docs/schemas/manifest.schema.json")));

    assertThat(SchemaCheck.problems(schema, Json.pretty(manifest))).isEmpty();
  }

  private static List<JsonObject> points() {
    RunFacts facts = Facts.of(2, 0);
    RunState state = Facts.journal(2, "created submitting submitted confirmed");
    return SweepPoints.of(
        POINTS,
        outcome(facts, state).tasks(),
        Map.of(0, new JsonObject().with("loss", new BigDecimal("0.5"))));
  }

  private static RunOutcome outcome(RunFacts facts, RunState state) {
    return RunOutcome.of(
        facts,
        state,
        Rows.accounting("0 COMPLETED 10-70; 1 TIMEOUT 10-700"),
        Rows.queue(""),
        Map.of(),
        Rows.NOON.plusSeconds(10_000));
  }
}
