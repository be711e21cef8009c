package dev.nexa.slurm.records.approvals;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Plans;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An approver signs how many tokens of a paid API a run may use. */
class ApprovedTokensTest {
  private static final String GENERATE =
      """
      stage: generate
      backend: data
      data:
        generate:
          requests: ['${shared}/requests.jsonl']
          url: https://teacher.example/v1
          model: org/teacher-1
          max_input_tokens: 4e9
          max_output_tokens: 500000
      resources: {time: 60m, cpus_per_task: 1}
      """;

  private static final String BOOK =
      """
      currency: USD
      as_of: 2026-01-01
      cpu_hour: {price: 0.04, source: list of 2026}
      api_tokens:
        org/teacher-1:
          input: {price: 0.15, source: list of 2026}
          output: {price: 0.60, source: list of 2026}
      """;

  @Test
  void theLimitsHoldThemAndTheReservationFollowsFromTheLimits() {
    Plan plan = plan(GENERATE);
    JsonObject limits = limits(plan);
    EstimateFile signed = signed(plan, limits);

    assertThat(limits.toString())
        .contains(
            "\"api_model\":\"org/teacher-1\",\"api_input_tokens\":4000000000,\"api_output_tokens\":500000");
    // 1.025 h x 0.04, 4000 x 0.15, 0.5 x 0.60
    assertThat(signed.reserved()).isEqualByComparingTo("600.34");
    assertThat(signed.ofLimits().total().amount()).isEqualByComparingTo("600.34");
    limits.with("api_output_tokens", 1_000_000_000L);
    assertThat(signed.ofLimits().total().amount()).isEqualByComparingTo("1200.04");
  }

  /** 1.025, 1.525 and 1.525 h x 0.04: a later attempt may take 90 minutes. */
  @Test
  void theSizesOfLaterAttemptsAreApprovedAndReservedToo() {
    String grows =
        """
        stage: data
        backend: shell
        run: echo
        requeues: 2
        grow: {time: {by: 10, up_to: 90m}}
        resources: {time: 60m, cpus_per_task: 100}
        """;
    JsonObject limits = limits(plan(grows));
    EstimateFile signed = signed(plan(grows), limits);

    assertThat(signed.reserved()).isEqualByComparingTo("16.30");
    assertThat(signed.ofLimits().total().amount()).isEqualByComparingTo("16.30");
    assertThat(ApprovedLimits.differences(limits, limits(plan(grows.replace("90m", "91m")))))
        .isNotEmpty()
        .allMatch(line -> line.contains("5400") && line.contains("5460"));
    String plain = grows.replace("grow: {time: {by: 10, up_to: 90m}}\n", "");
    assertThat(ApprovedLimits.differences(limits(plan(plain)), limits).get(0))
        .startsWith("sizes of later attempts: none was approved, this is ");
  }

  @Test
  void otherTokensAreNotWhatWasApproved() {
    JsonObject approved = limits(plan(GENERATE));
    JsonObject more = limits(plan(GENERATE.replace("500000", "500001")));
    JsonObject same = limits(plan(GENERATE.replace("4e9", "4000000000")));

    assertThat(ApprovedLimits.differences(approved, more))
        .containsExactly(
            "output tokens of the API: 500000 was approved, this is 500001 (data.generate)");
    assertThat(ApprovedLimits.differences(approved, same)).isEmpty();
  }

  /** Approvals that were signed before there were tokens keep their digests. */
  @Test
  void theLimitsOfAnotherRunDoNotNameThem() {
    Plan plan = plan("stage: data\nbackend: shell\nrun: echo\nresources: {time: 60m}\n");

    assertThat(limits(plan).toString()).doesNotContain("api_");
    assertThat(signed(plan, limits(plan)).json().toString()).doesNotContain("api_");
  }

  private static EstimateFile signed(Plan plan, JsonObject limits) {
    ConfigFolder folder = folder();
    PriceKey key = PriceKey.of(plan, folder.reader().cluster("mine"), LocalDate.of(2026, 3, 1));
    Estimate estimate = Estimate.of(plan, Rates.of(folder.reader().prices("mine"), key));
    return EstimateFile.of(estimate, true)
        .signed("run.yaml", List.of(), new JsonObject(), limits, new JsonObject());
  }

  private static JsonObject limits(Plan plan) {
    PlanFile kept = PlanFile.parse(Json.pretty(PlanFile.of(plan).json()), "plan.json");
    return ApprovedContent.limits(kept);
  }

  private static ConfigFolder folder() {
    return new ConfigFolder()
        .with("configs/prices/mine.yaml", BOOK)
        .with("configs/clusters/mine.yaml", Plans.CLUSTER);
  }

  private static Plan plan(String config) {
    return Plans.of(folder().with("run.yaml", config));
  }
}
