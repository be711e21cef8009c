package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.RunCost;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.results.ChargedMetrics;
import dev.nexa.slurm.run.results.TaskResults;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The teacher takes 0.15 for 10^6 tokens that it reads, and 0.60 for those that it writes. */
class PaidTokensTest {
  private static final String CONFIRMED = "created submitting submitted confirmed";
  private static final String THREE = "0 COMPLETED 10-3610; 1 COMPLETED 10-3610; 2 FAILED 10-3610";

  @Test
  void theTasksAreAddedUpAndPricedOnceFailedOnesToo() {
    JsonObject cost =
        cost(3, THREE, Map.of(0, paid(1_000_000, 0), 1, paid(7, 3), 2, paid(10, 400_000)));

    // 1.000017 x 0.15 = 0.15000255; 0.400003 x 0.60 = 0.2400018; three hours of 11.20
    assertThat(cost.object("breakdown").decimal("api_tokens")).isEqualByComparingTo("0.39");
    assertThat(cost.decimal("total")).isEqualByComparingTo("33.99");
    assertThat(cost.object("actual").objects("lines"))
        .extracting(line -> line.text("what") + " " + line.text("quantity"))
        .endsWith(
            "api_tokens:org/teacher-1 input 1.000017", "api_tokens:org/teacher-1 output 0.400003");
    assertThat(cost.texts("not_measured")).doesNotContain("api_tokens");
    assertThat(cost.members()).doesNotContainKey("limits");
  }

  @Test
  void aTaskThatLeftNoCountMakesTheCostUnknownAndNotZero() {
    JsonObject none = cost(3, THREE, Map.of());
    JsonObject some = cost(3, THREE, Map.of(1, paid(1_000_000, 0)));
    JsonObject words = new JsonObject().with("api_input_tokens", "many").with("loss", 1);
    JsonObject wrong = cost(3, THREE, Map.of(0, paid(0, 0), 1, words, 2, paid(0, 0)));

    assertThat(none.texts("not_measured")).contains("api_tokens");
    assertThat(none.texts("limits"))
        .containsExactly(
            "tasks 0-2: no count of API tokens in the metrics: the cost does not hold the tokens"
                + " that they may have paid for");
    assertThat(some.texts("not_measured")).contains("api_tokens");
    assertThat(some.texts("limits").get(0)).startsWith("tasks 0,2: no count");
    assertThat(some.object("breakdown").decimal("api_tokens")).isEqualByComparingTo("0.15");
    assertThat(wrong.texts("limits").get(0)).startsWith("task 1: no count");
    assertThat(wrong.texts("not_measured")).contains("api_tokens");
  }

  @Test
  void aTaskThatNeverStartedPaidNothing() {
    JsonObject cost =
        cost(2, "0 COMPLETED 10-3610; 1 CANCELLED by 1000 -70", Map.of(0, paid(2_000_000, 0)));

    assertThat(cost.members()).doesNotContainKey("limits");
    assertThat(cost.texts("not_measured")).doesNotContain("api_tokens");
  }

  @Test
  void brokenMetricsAreUnknownToo() {
    Map<Integer, JsonObject> byTask = Map.of();
    TaskResults results =
        new TaskResults(
            new JsonObject(),
            byTask,
            List.of(),
            List.of(),
            ChargedMetrics.of(byTask, new TreeSet<>(List.of(0))),
            Optional.empty(),
            Map.of(),
            Optional.empty());

    JsonObject cost = cost(Facts.calling(1), "0 COMPLETED 10-3610", "", results);

    assertThat(cost.texts("not_measured")).contains("api_tokens");
    assertThat(cost.texts("limits")).anyMatch(line -> line.startsWith("task 0: no count"));
  }

  @Test
  void answersThatNeverArrivedAndAKilledProgramAreNamed() {
    JsonObject lost =
        paid(1, 1)
            .with("api_unknown_requests", new BigDecimal(2))
            .with("api_unknown_input_tokens", new BigDecimal(300))
            .with("api_unknown_output_tokens", new BigDecimal(4096));
    JsonObject killed =
        paid(1_000_000, 1)
            .with("api_tokens_open", true)
            .with("api_unknown_requests", BigDecimal.ZERO);

    JsonObject cost =
        cost(2, "0 COMPLETED 10-3610; 1 NODE_FAIL 10-3610", Map.of(0, lost, 1, killed));

    assertThat(cost.texts("limits"))
        .containsExactly(
            "task 0: the answers of 2 requests never arrived; the API may charge at most 300 input"
                + " and 4096 output tokens more",
            "task 1: its program was killed; the cost does not hold the API tokens that it paid for"
                + " after its last count");
    assertThat(cost.texts("not_measured")).contains("api_tokens");
    assertThat(cost.object("breakdown").decimal("api_tokens")).isEqualByComparingTo("0.15");
  }

  @Test
  void tokensCountWhileTheRunStillRuns() {
    TaskResults results =
        new TaskResults(new JsonObject(), Map.of(0, paid(2_000_000, 0)), List.of());

    JsonObject cost = cost(Facts.calling(1), "0 RUNNING 10-", "0 RUNNING", results);

    assertThat(cost.decimal("total")).isEqualByComparingTo("0.30");
    assertThat(cost.texts("not_measured")).doesNotContain("api_tokens");
  }

  @Test
  void whatTheCostLacksIsNamedWhileTasksRunAndWhereTheirTokensAreUnknown() {
    JsonObject open = paid(1, 1).with("api_tokens_open", true);
    JsonObject lost = paid(1, 1).with("api_unknown_requests", new BigDecimal(1));
    JsonObject more = paid(1, 1).with("api_unknown_requests", new BigDecimal(2));
    String ended = "0 COMPLETED 10-3610; 1 FAILED 10-3610";

    assertThat(lacks(Facts.calling(2), "", "0 PENDING; 1 PENDING", Map.of())).isEmpty();
    assertThat(lacks(Facts.calling(2), "", "0 RUNNING; 1 PENDING", Map.of()))
        .hasValue("tokens of 1 task");
    assertThat(lacks(Facts.calling(2), "0 COMPLETED 10-70", "1 RUNNING", Map.of(0, lost, 1, open)))
        .hasValue("tokens of 1 task, 1 unknown request");
    assertThat(lacks(Facts.calling(2), ended, "", Map.of())).hasValue("tokens of 2 tasks");
    assertThat(lacks(Facts.calling(2), ended, "", Map.of(0, lost, 1, open)))
        .hasValue("tokens of 1 task, 1 unknown request");
    assertThat(lacks(Facts.calling(2), ended, "", Map.of(0, lost, 1, more)))
        .hasValue("3 unknown requests");
    assertThat(lacks(Facts.calling(2), ended, "", Map.of(0, paid(1, 1), 1, paid(1, 1)))).isEmpty();
    assertThat(lacks(Facts.of(2, 0), ended, "", Map.of(0, lost, 1, open))).isEmpty();
  }

  /** 0.15 for 10^6 tokens of the prompts, and 0.60 for 10^6 tokens of the answers. */
  @Test
  void theMostThatUnknownRequestsCanCostIsKeptBesideTheCost() {
    JsonObject bounded =
        paid(0, 0)
            .with("api_unknown_requests", new BigDecimal(2))
            .with("api_unknown_input_tokens", new BigDecimal(2_000_000))
            .with("api_unknown_output_tokens", new BigDecimal(1_000_000));
    JsonObject unbounded = paid(0, 0).with("api_unknown_requests", new BigDecimal(3));

    CostFile both = CostFile.parse(cost(3, THREE, Map.of(0, bounded, 2, bounded)).toString(), "");
    CostFile one = CostFile.parse(cost(3, THREE, Map.of(0, bounded, 1, unbounded)).toString(), "");

    assertThat(both.unknownRequests()).isEqualTo(4);
    assertThat(both.unknownTokenLines())
        .extracting(line -> line.what() + " " + line.amount())
        .containsExactly(
            "api_tokens:org/teacher-1 input 0.60 USD", "api_tokens:org/teacher-1 output 1.20 USD");
    assertThat(both.tokens().orElseThrow().amount()).isZero();
    assertThat(one.unknownRequests()).isEqualTo(5);
    assertThat(one.unknownTokenLines()).isEmpty();
  }

  @Test
  void aRunWithoutAnApiIsNotChargedForSuchAMetric() {
    TaskResults results =
        new TaskResults(new JsonObject(), Map.of(0, paid(2_000_000, 0)), List.of());

    JsonObject cost = cost(Facts.of(1, 0), "0 COMPLETED 10-3610", "", results);

    assertThat(cost.decimal("total")).isEqualByComparingTo("11.20");
    assertThat(cost.object("breakdown").members()).doesNotContainKey("api_tokens");
    assertThat(cost.texts("not_measured")).doesNotContain("api_tokens");
  }

  @Test
  void theReservationOfTheTokensIsAPartOfTheDifference() {
    TaskResults results =
        new TaskResults(new JsonObject(), Map.of(0, paid(1_000_000, 500_000)), List.of());

    JsonObject cost = cost(Facts.calling(1), "0 COMPLETED 0-3690", "", results);

    // Reserved are 11.48 for the hour and 4 x 0.15 + 2 x 0.60 = 1.80; paid are 0.15 + 0.30.
    assertThat(cost.object("estimate").text("reservation")).isEqualTo("13.28");
    assertThat(cost.text("difference")).isEqualTo("-1.35");
    assertThat(cost.object("difference_parts").text("api_tokens_not_used")).isEqualTo("-1.35");
    assertThat(cost.object("difference_parts").text("rounding")).isEqualTo("0.00");
  }

  /** Amounts are computed again from the metrics, with whole numbers only. */
  @Test
  void whateverTasksReportIsChargedToTheToken() {
    SplittableRandom random = new SplittableRandom(140);
    for (int round = 0; round < 300; round++) {
      int tasks = random.nextInt(1, 12);
      Map<Integer, JsonObject> byTask = new TreeMap<>();
      StringBuilder rows = new StringBuilder();
      BigInteger input = BigInteger.ZERO;
      BigInteger output = BigInteger.ZERO;
      boolean any = false;
      boolean all = true;
      for (int task = 0; task < tasks; task++) {
        rows.append(task == 0 ? "" : "; ").append(task);
        rows.append(random.nextBoolean() ? " COMPLETED 0-60" : " FAILED 0-60");
        if (random.nextInt(8) == 0) {
          all = false;
          continue;
        }
        any = true;
        long read = random.nextLong(1L << random.nextInt(1, 40));
        long written = random.nextLong(1L << random.nextInt(1, 40));
        byTask.put(task, paid(read, written));
        input = input.add(BigInteger.valueOf(read));
        output = output.add(BigInteger.valueOf(written));
      }

      JsonObject cost = cost(tasks, rows.toString(), byTask);

      // 0.15 for 10^6 tokens are 15 units of 10^-8; a cent is 10^6 of them.
      BigInteger cents = cents(input.multiply(BigInteger.valueOf(15)));
      cents = cents.add(cents(output.multiply(BigInteger.valueOf(60))));
      assertThat(cost.object("breakdown").decimal("api_tokens"))
          .isEqualByComparingTo(new BigDecimal(cents, 2));
      assertThat(cost.texts("not_measured").contains("api_tokens")).isEqualTo(!all || !any);
      assertThat(parts(cost)).isEqualByComparingTo(cost.text("difference"));
    }
  }

  private static BigInteger cents(BigInteger units) {
    BigInteger[] parts = units.divideAndRemainder(BigInteger.valueOf(1_000_000));
    int half = parts[1].compareTo(BigInteger.valueOf(500_000));
    return half > 0 || (half == 0 && parts[0].testBit(0)) ? parts[0].add(BigInteger.ONE) : parts[0];
  }

  private static BigDecimal parts(JsonObject cost) {
    JsonObject parts = cost.object("difference_parts");
    return parts.members().keySet().stream()
        .map(name -> new BigDecimal(parts.text(name)))
        .reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  private static JsonObject paid(long input, long output) {
    return new JsonObject()
        .with("api_input_tokens", BigDecimal.valueOf(input))
        .with("api_output_tokens", BigDecimal.valueOf(output));
  }

  private static JsonObject cost(int tasks, String rows, Map<Integer, JsonObject> byTask) {
    TaskResults results = new TaskResults(new JsonObject(), new TreeMap<>(byTask), List.of());
    RunFacts facts = Facts.calling(tasks);
    assertThat(facts.estimate().apiTokens().map(ApiTokens::model)).hasValue("org/teacher-1");
    return cost(facts, rows, "", results);
  }

  private static Optional<String> lacks(
      RunFacts facts, String rows, String queue, Map<Integer, JsonObject> byTask) {
    TaskResults results = new TaskResults(new JsonObject(), new TreeMap<>(byTask), List.of());
    RunState journal = Facts.journal(facts.tasks(), CONFIRMED);
    return CostRecord.cost(facts, journal, outcome(facts, rows, queue), results).lacks();
  }

  private static RunOutcome outcome(RunFacts facts, String rows, String queue) {
    return RunOutcome.of(
        facts,
        Facts.journal(facts.tasks(), CONFIRMED),
        Rows.accounting(rows),
        Rows.queue(queue),
        Map.of(),
        Rows.NOON.plusSeconds(10_000));
  }

  private static JsonObject cost(RunFacts facts, String rows, String queue, TaskResults results) {
    RunOutcome outcome = outcome(facts, rows, queue);
    RunState journal = Facts.journal(facts.tasks(), CONFIRMED);
    RunCost sum = CostRecord.cost(facts, journal, outcome, results);
    return CostRecord.of(facts, journal, outcome, sum, results, EnumSet.noneOf(JobState.class))
        .json();
  }
}
