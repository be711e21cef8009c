package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Which past runs count for a plan, how they are scaled, and what is said of them. */
class RunsLikeThisTest {
  /** A GPU-hour of an H100 is 3600, so that a second is 1. */
  private static final Rates RATES =
      new Rates(
          "book",
          "2025-11-01",
          "d1",
          "USD",
          Map.of("h100", price("3600"), "a100", price("1800")),
          Map.of(),
          BillingMode.PLAIN,
          Map.of());

  private static final RunSimilarity LIKE =
      new RunSimilarity(
          "train",
          Optional.of("shell"),
          Optional.of("mistral-7b"),
          Optional.of("h100"),
          Optional.empty(),
          Optional.of("science"),
          Optional.of("mine"));

  private int number;

  @Test
  void halfOfTheNextRunsCostNoMoreThanTheP50AndNineOfTenNoMoreThanTheP90() {
    List<PastRun> past = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      past.add(run(LIKE, 1, 100 + i % 10));
    }

    Expected expected = outlook(plan(1, 1, "h100"), past).expected().orElseThrow();

    assertThat(expected.method()).isEqualTo(Expected.Method.HISTORY);
    assertThat(expected.total().amount()).isBetween(dollars(104), dollars(105));
    assertThat(expected.high().amount()).isBetween(dollars(108), dollars(110));
    assertThat(expected.basis())
        .isEqualTo(
            "P50 and P90 of 20 past runs of the same stage, backend, model, GPU type, name, dataset and cluster");
    assertThat(expected.toJson().text("p90")).isEqualTo(expected.high().amount().toPlainString());
  }

  @Test
  void itIsScaledByTasksAndByTheGpusOfOne() {
    List<PastRun> past = same(5, run(LIKE, 2, 200));

    // 100 GPU-seconds a task: 25 s on four GPUs; eight tasks.
    Expected expected = outlook(plan(8, 4, "h100"), past).expected().orElseThrow();

    assertThat(expected.runSeconds()).isEqualTo(25);
    assertThat(expected.total()).hasToString("800.00 USD");
    assertThat(expected.gpuHours()).isEqualByComparingTo("0.2222");
  }

  /** Earlier runs of any duration, any number of tasks and GPUs: the limit ends each attempt. */
  @Test
  void whatIsProbableIsNeverMoreThanTheMaximum() {
    Random random = new Random(20261123);
    for (int i = 0; i < 500; i++) {
      List<PastRun> past = new ArrayList<>();
      for (int run = 0; run < 5 + random.nextInt(5); run++) {
        past.add(run(LIKE, 1 + random.nextInt(3), 1 + random.nextInt(2_000_000)));
      }
      Plan plan = plan(1 + random.nextInt(4), 1 + random.nextInt(8), "h100");

      Expected expected = outlook(plan, past).expected().orElseThrow();

      Estimate most = Estimate.of(plan, RATES);
      long limit = plan.allocation().timeLimit().toSeconds() * plan.attempts();
      assertThat(expected.total()).isLessThanOrEqualTo(expected.high());
      assertThat(expected.high()).isLessThan(most.total());
      assertThat(expected.runSeconds()).isBetween(1L, limit);
      assertThat(expected.highSeconds()).isBetween(expected.runSeconds(), limit);
      assertThat(expected.gpuHours())
          .isLessThanOrEqualTo(
              BigDecimal.valueOf(limit * plan.tasks() * plan.billed().gpus())
                  .divide(BigDecimal.valueOf(3600), 4, RoundingMode.UP));
      assertThat(expected.tooShort().isPresent()).isEqualTo(expected.neededSeconds() > limit);
    }
  }

  @Test
  void itIsScaledByTheDataWhereBothKnowItsSize() {
    List<PastRun> past =
        same(5, run(LIKE, 1, 100, new DataSize(Optional.empty(), Optional.of(50L))));
    Plan plan = plan(1, 1, "h100");
    DataSize twice = new DataSize(Optional.empty(), Optional.of(100L));
    DataSize other = new DataSize(Optional.of(100L), Optional.empty());

    assertThat(outlook(plan, twice, past).expected().orElseThrow().total())
        .hasToString("200.00 USD");
    assertThat(outlook(plan, twice, past).expected().orElseThrow().basis())
        .endsWith("; scaled by the size of the data");
    assertThat(outlook(plan, other, past).expected().orElseThrow().total())
        .hasToString("100.00 USD");
  }

  @Test
  void theMostAlikeAreTakenThatAreEnough() {
    RunSimilarity otherName = with(LIKE, Optional.of("a100x"), LIKE.gpuType(), LIKE.model());
    List<PastRun> past = new ArrayList<>(same(5, run(LIKE, 1, 100)));
    past.addAll(same(40, run(otherName, 1, 900)));

    assertThat(outlook(plan(1, 1, "h100"), past).expected().orElseThrow().total())
        .hasToString("100.00 USD");

    List<PastRun> few = past.subList(1, past.size());
    Expected wider = outlook(plan(1, 1, "h100"), few).expected().orElseThrow();
    assertThat(wider.total()).hasToString("900.00 USD");
    assertThat(wider.runs()).hasSize(44);
    assertThat(wider.basis()).endsWith("same stage, backend, model and GPU type");
  }

  @Test
  void onAnotherGpuTheSameMoneyBuysTheSameWork() {
    List<PastRun> past =
        same(5, run(with(LIKE, LIKE.experiment(), Optional.of("a100"), LIKE.model()), 1, 100));

    // 100 s of an A100 at half the price.
    Expected expected = outlook(plan(1, 1, "h100"), past).expected().orElseThrow();

    assertThat(expected.total()).hasToString("50.00 USD");
    assertThat(expected.basis()).endsWith("on any GPU by its price");
    List<PastRun> unpriced =
        same(5, run(with(LIKE, LIKE.experiment(), Optional.of("b200"), LIKE.model()), 1, 100));
    assertThat(outlook(plan(1, 1, "h100"), unpriced).expected()).isEmpty();
  }

  @Test
  void runsOfAnotherStageOrModelAreNeverLikeIt() {
    RunSimilarity otherModel =
        with(LIKE, LIKE.experiment(), LIKE.gpuType(), Optional.of("llama-70b"));
    RunSimilarity otherStage =
        new RunSimilarity(
            "eval",
            LIKE.backend(),
            LIKE.model(),
            LIKE.gpuType(),
            LIKE.experiment(),
            LIKE.dataset(),
            LIKE.cluster());
    List<PastRun> past = new ArrayList<>(same(30, run(otherModel, 1, 100)));
    past.addAll(same(30, run(otherStage, 1, 100)));

    Outlook outlook = outlook(plan(1, 1, "h100"), past);

    assertThat(outlook.expected()).isEmpty();
    assertThat(outlook.unknown()).contains("no past run like this yet");
    assertThat(outlook.accuracySentence()).contains("no past run like this yet");
    JsonObject json = EstimateFile.parse("{}", "estimate.json").outlook(outlook).json();
    assertThat(json.members().get("expected")).isNull();
    assertThat(json.members()).containsKey("expected");
    assertThat(json.members().get("accuracy")).isNull();
    assertThat(json.text("expected_unknown")).isEqualTo("no past run like this yet");
  }

  @Test
  void sumsBelowACentHaveNoSentenceAboutTheirError() {
    DataSize data = new DataSize(Optional.empty(), Optional.empty());
    Outlook known = outlook(plan(1, 1, "h100"), same(20, run(LIKE, 1, 100)));
    Outlook belowACent =
        new Outlook(known.expected(), Optional.empty(), Optional.empty(), known.history(), data);

    assertThat(known.expected()).isPresent();
    assertThat(belowACent.accuracySentence()).isEmpty();
  }

  @Test
  void fewerThanFiveAreShownWithoutAPromise() {
    List<PastRun> past = List.of(run(LIKE, 1, 100), run(LIKE, 1, 120), run(LIKE, 1, 90));

    Outlook outlook = outlook(plan(1, 1, "h100"), past);

    assertThat(outlook.expected()).isEmpty();
    assertThat(outlook.unknown())
        .contains(
            "too few past runs like this (3): train_1 cost 100.00 USD, train_2 cost 120.00 USD,"
                + " train_3 cost 90.00 USD");
  }

  @Test
  void whatTheConfigSaysGoesBeforeHistoryAndThatBeforeArithmetic() {
    Plan plan = plan(1, 1, "h100");
    Estimate estimate = Estimate.of(plan, RATES);
    Expected stated =
        Expected.of(Expected.Method.CONFIG, plan, estimate, 10, 10, 20, "the config", List.of());
    Expected analytic =
        Expected.of(Expected.Method.ANALYTIC, plan, estimate, 10, 30, 90, "FLOPs", List.of());
    List<PastRun> past = same(5, run(LIKE, 1, 100));

    assertThat(method(plan, past, Optional.of(stated), Optional.of(analytic))).isEqualTo("config");
    assertThat(method(plan, past, Optional.empty(), Optional.of(analytic))).isEqualTo("history");
    assertThat(method(plan, past.subList(0, 4), Optional.empty(), Optional.of(analytic)))
        .isEqualTo("analytic");
    assertThat(method(plan, List.of(), Optional.empty(), Optional.of(analytic)))
        .isEqualTo("analytic");
  }

  @Test
  void nothingIsExpectedToCostMoreThanItCan() {
    List<PastRun> past = same(6, run(LIKE, 1, 1_000_000));
    Plan plan = plan(1, 1, "h100");

    Expected expected = outlook(plan, past).expected().orElseThrow();

    assertThat(expected.high()).as("the limit ends it after an hour").hasToString("3600.00 USD");
    assertThat(Estimate.of(plan, RATES).total()).as("90 s to end it").hasToString("3690.00 USD");
  }

  @Test
  void theBandIsOfTheNewest24AgainstWhatWasExpectedOfThem() {
    List<PastRun> past = new ArrayList<>();
    past.add(said(88, "100"));
    past.add(said(104, "100"));
    past.addAll(same(22, said(100, "100")));
    past.add(said(900, "100"));

    ErrorBand band = outlook(plan(1, 1, "h100"), past).accuracy().orElseThrow();

    assertThat(band.sentence())
        .isEqualTo("the last 24 like this ended between -12 % and +4 % of their expected cost");
    assertThat(band.toJson().toString())
        .startsWith(
            "{\"runs\":24,\"low_percent\":-12,\"high_percent\":4,\"of\":\"expected\",\"sentence\":");
  }

  @Test
  void whereNothingWasExpectedTheReservationIsTheMeasure() {
    List<PastRun> past = List.of(run(LIKE, 1, 100), run(LIKE, 1, 250));

    assertThat(outlook(plan(1, 1, "h100"), past).accuracySentence())
        .contains("the last 2 similar runs cost between 10 % and 25 % of their maximum");
    assertThat(outlook(plan(1, 1, "h100"), past.subList(0, 1)).accuracySentence())
        .contains("the last similar run cost 10 % of its maximum");
  }

  @Test
  void lessThanOnePercentIsWrittenOnce() {
    List<PastRun> past = List.of(run(LIKE, 1, 1), run(LIKE, 1, 1));

    assertThat(outlook(plan(1, 1, "h100"), past).accuracySentence())
        .contains("the last 2 similar runs cost less than 1 % of their maximum");
  }

  @Test
  void aShorterLimitIsAdvisedWhereNearlyAllWouldHaveKeptToIt() {
    List<PastRun> past = new ArrayList<>(same(38, run(LIKE, 1, 1000)));
    past.addAll(same(2, run(LIKE, 1, 3000)));

    Plan plan = plan(1, 1, "h100");
    TimeLimitAdvice advice = TimeLimitAdvice.of(plan, outlook(plan, past), RATES).orElseThrow();

    // 1000 s and a fifth more, and that values are never all the same: 21 minutes.
    assertThat(advice).isEqualTo(new TimeLimitAdvice(1260, 40, 2));
    assertThat(TimeLimitAdvice.of(plan, outlook(plan, past.subList(0, 4)), RATES)).isEmpty();
  }

  private static String method(
      Plan plan, List<PastRun> past, Optional<Expected> stated, Optional<Expected> analytic) {
    Estimate estimate = Estimate.of(plan, RATES);
    return Outlook.of(plan, estimate, DataSize.UNKNOWN, past, stated)
        .otherwise(analytic)
        .expected()
        .orElseThrow()
        .method()
        .word();
  }

  private static Outlook outlook(Plan plan, List<PastRun> past) {
    return outlook(plan, DataSize.UNKNOWN, past);
  }

  private static Outlook outlook(Plan plan, DataSize data, List<PastRun> past) {
    return Outlook.of(plan, Estimate.of(plan, RATES), data, past, Optional.empty());
  }

  private static Plan plan(int tasks, int gpus, String type) {
    return Plans.of(
        "stage: train\nbackend: shell\nrun: echo\nmodel_name: mistral-7b\ndataset: science\n"
            + "array: {shards: "
            + tasks
            + "}\nresources: {time: 60m, gpus_per_node: "
            + gpus
            + ", gpu_type: "
            + type
            + "}\n",
        Plans.CLUSTER);
  }

  private static RunSimilarity with(
      RunSimilarity traits,
      Optional<String> name,
      Optional<String> gpuType,
      Optional<String> model) {
    return new RunSimilarity(
        traits.stage(), traits.backend(), model, gpuType, name, traits.dataset(), traits.cluster());
  }

  private static List<PastRun> same(int count, PastRun run) {
    List<PastRun> runs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      runs.add(run);
    }
    return runs;
  }

  private PastRun run(RunSimilarity traits, int tasks, long gpuSeconds) {
    return run(traits, tasks, gpuSeconds, DataSize.UNKNOWN);
  }

  private PastRun run(RunSimilarity traits, int tasks, long gpuSeconds, DataSize data) {
    return past(traits, tasks, gpuSeconds, data, Optional.empty());
  }

  private PastRun said(long gpuSeconds, String expected) {
    return past(LIKE, 1, gpuSeconds, DataSize.UNKNOWN, Optional.of(new BigDecimal(expected)));
  }

  private PastRun past(
      RunSimilarity traits,
      int tasks,
      long gpuSeconds,
      DataSize data,
      Optional<BigDecimal> expected) {
    return new PastRun(
        "train_" + ++number,
        traits,
        tasks,
        gpuSeconds,
        gpuSeconds * 4,
        Optional.of(1),
        Optional.of(gpuSeconds / tasks),
        data,
        new Money(BigDecimal.valueOf(gpuSeconds).setScale(2), "USD"),
        Optional.of(new BigDecimal("1000")),
        expected);
  }

  private static BigDecimal dollars(long dollars) {
    return BigDecimal.valueOf(dollars);
  }

  private static Price price(String amount) {
    return new Price(new BigDecimal(amount), "list of 2025");
  }
}
