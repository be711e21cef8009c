package dev.nexa.slurm.data.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.gate.Rule.Mode;
import dev.nexa.slurm.data.gate.Rule.NoWorse;
import dev.nexa.slurm.data.gate.Rule.On;
import dev.nexa.slurm.data.gate.Rule.Threshold;
import dev.nexa.slurm.data.score.MetricSummary;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GateTest {
  private static final GateSettings OPTIONS =
      new GateSettings(List.of(), 0.05, 14, 1_000, 0.05, 30, List.of());
  private static final NoWorse REGRESSION = new NoWorse(Mode.REGRESSION, 0);

  /** Nothing changed, so a failure is an error of the first kind. */
  @Test
  void aGateFailsSeldomIfNothingBecameWorse() {
    Random random = new Random(5);
    int scores = 0;
    int answers = 0;
    int trials = 600;
    for (int i = 0; i < trials; i++) {
      GateSettings options = new GateSettings(List.of(), 0.05, i, 1_000, 0, 30, List.of());
      scores += noWorse(scores(random, 80, 0), REGRESSION, options).passed() ? 0 : 1;
      answers += noWorse(answers(random, 300, 0), REGRESSION, options).passed() ? 0 : 1;
    }
    assertThat(scores / (double) trials).isBetween(0.025, 0.08);
    // An exact test keeps below alpha, because the number of losses is whole.
    assertThat(answers / (double) trials).isBetween(0.01, 0.065);
  }

  @Test
  void aLossOfTheMinimumDetectableEffectIsFoundFourTimesInFive() {
    Random random = new Random(6);
    double detectable =
        noWorse(scores(random, 400, 0), REGRESSION, OPTIONS)
            .figures()
            .decimal("minimum_detectable_effect")
            .doubleValue();
    int found = 0;
    int trials = 200;
    for (int i = 0; i < trials; i++) {
      Pairs pairs = scores(random, 400, detectable);
      found += noWorse(pairs, REGRESSION, OPTIONS).passed() ? 0 : 1;
    }
    assertThat(found / (double) trials).isBetween(0.7, 0.9);
  }

  @Test
  void withoutProofNonInferiorityFails() {
    NoWorse wanted = new NoWorse(Mode.NON_INFERIORITY, 0.1);
    Random random = new Random(7);
    int passedWithLoss = 0;
    int passedWithout = 0;
    for (int i = 0; i < 100; i++) {
      passedWithLoss += noWorse(scores(random, 400, 0.1), wanted, OPTIONS).passed() ? 1 : 0;
      passedWithout += noWorse(scores(random, 2000, 0), wanted, OPTIONS).passed() ? 1 : 0;
    }
    assertThat(passedWithLoss / 100.0).isLessThan(0.1);
    assertThat(passedWithout / 100.0).isGreaterThan(0.9);
  }

  /** 24 of 300 answers became wrong and 9 right: the sum of 33 throws says 0.0068. */
  @Test
  void answersThatAreRightOrWrongAreComparedByMcNemarsTest() {
    double[] baseline = new double[300];
    double[] candidate = new double[300];
    for (int i = 0; i < 300; i++) {
      baseline[i] = i < 200 ? 1 : 0;
      candidate[i] = i < 24 ? 0 : i >= 291 ? 1 : baseline[i];
    }

    RuleVerdict verdict = noWorse(new Pairs(candidate, baseline, 0, 0, 0), REGRESSION, OPTIONS);

    assertThat(verdict.passed()).isFalse();
    JsonObject json = verdict.json();
    assertThat(json.text("test")).isEqualTo("mcnemar_exact");
    assertThat(json.decimal("losses")).isEqualByComparingTo("24");
    assertThat(json.decimal("gains")).isEqualByComparingTo("9");
    assertThat(json.decimal("p").doubleValue()).isCloseTo(0.00678, within(0.0001));
    assertThat(json.decimal("difference").doubleValue()).isCloseTo(-0.05, within(1e-9));
    assertThat(json.text("reason"))
        .startsWith("acc is 0.6167 against 0.6667 of the baseline (difference -0.05, n = 300, 90 %")
        .endsWith("it became worse, by at least the minimum effect of 0");
    assertThat(json.decimal("lower").doubleValue()).isLessThan(-0.05);
    assertThat(json.decimal("upper").doubleValue()).isBetween(-0.05, 0.0);
    assertThat(json.text("verdict")).isEqualTo("fail");
  }

  @Test
  void aLossBelowTheMinimumEffectPasses() {
    Pairs pairs = scores(new Random(8), 5_000, 0.05);

    assertThat(noWorse(pairs, REGRESSION, OPTIONS).passed()).isFalse();
    RuleVerdict verdict = noWorse(pairs, new NoWorse(Mode.REGRESSION, 0.2), OPTIONS);
    assertThat(verdict.passed()).isTrue();
    assertThat(verdict.reason()).endsWith("the loss is less than the minimum effect of 0.2");
  }

  @Test
  void aLowerToxicityIsBetter() {
    Pairs pairs = scores(new Random(9), 400, 0.5);
    Rule toxicity = new Rule("toxicity", false, REGRESSION);

    assertThat(Gate.noWorse(toxicity, REGRESSION, pairs, OPTIONS).passed()).isTrue();
    double[] other = pairs.baseline();
    Pairs worse = new Pairs(other, pairs.candidate(), 0, 0, 0);
    RuleVerdict verdict = Gate.noWorse(toxicity, REGRESSION, worse, OPTIONS);
    assertThat(verdict.passed()).isFalse();
    JsonObject json = verdict.json();
    assertThat(json.decimal("difference")).isPositive();
    assertThat(json.decimal("lower")).isPositive().isLessThan(json.decimal("difference"));
    assertThat(json.decimal("upper")).isGreaterThan(json.decimal("difference"));
  }

  @Test
  void tooFewItemsOrTooManyWithoutAPartnerFail() {
    assertThat(noWorse(scores(new Random(1), 29, 0), REGRESSION, OPTIONS).reason())
        .isEqualTo("acc cannot be compared: n = 29, and min_items is 30");
    Pairs pairs = scores(new Random(1), 90, 0);
    Pairs missing = new Pairs(pairs.candidate(), pairs.baseline(), 3, 2, 5);
    RuleVerdict verdict = noWorse(missing, REGRESSION, OPTIONS);
    assertThat(verdict.passed()).isFalse();
    assertThat(verdict.reason())
        .isEqualTo(
            "acc cannot be compared: 10 % of the items have no value or no partner;"
                + " max_missing is 5 %");
    assertThat(verdict.json().decimal("only_candidate")).isEqualByComparingTo("3");
  }

  @Test
  void equalEvaluationsPassWithoutADifference() {
    double[] same = scores(new Random(2), 50, 0).baseline();
    RuleVerdict verdict = noWorse(new Pairs(same, same, 0, 0, 0), REGRESSION, OPTIONS);

    assertThat(verdict.passed()).isTrue();
    assertThat(verdict.json().decimal("p")).isEqualByComparingTo("1");
    assertThat(verdict.json().decimal("difference")).isZero();
  }

  /** The metric is 3.6 with the interval 3.45 to 3.75. */
  @ParameterizedTest
  @CsvSource({
    "true,  3.4,  BOUND,    true,  its lower bound is at least 3.4",
    "true,  3.5,  BOUND,    false, its lower bound must be at least 3.5",
    "true,  3.5,  ESTIMATE, true,  it is at least 3.5",
    "true,  3.7,  ESTIMATE, false, it must be at least 3.7",
    "false, 3.75, BOUND,    true,  its upper bound is at most 3.75",
    "false, 3.7,  BOUND,    false, its upper bound must be at most 3.7",
    "false, 3.7,  ESTIMATE, true,  it is at most 3.7",
  })
  void aThresholdIsComparedWithTheBoundOrTheMean(
      boolean atLeast, double limit, On on, boolean passes, String end) {
    RuleVerdict verdict = threshold(new Threshold(atLeast, limit, on), metric(400), 0);

    assertThat(verdict.passed()).isEqualTo(passes);
    assertThat(verdict.reason())
        .isEqualTo("dss is 3.6 (n = 400, 95 % interval 3.45 to 3.75); " + end);
  }

  @Test
  void aThresholdNeedsItemsAndValues() {
    Threshold wanted = new Threshold(true, 1, On.BOUND);
    assertThat(threshold(wanted, metric(20), 0).reason()).endsWith("n = 20, and min_items is 30");
    assertThat(threshold(wanted, metric(90), 10).reason()).contains("10 % of the items");
    RuleVerdict none =
        Gate.threshold(new Rule("x", true, wanted), wanted, Optional.empty(), 0, OPTIONS);
    assertThat(none.passed()).isFalse();
    assertThat(none.reason()).isEqualTo("x has no value in the evaluation");
  }

  @Test
  void aFailedGateEndsWithItsReasonsAndAStatusOfItsOwn() {
    RuleVerdict good = threshold(new Threshold(true, 1, On.BOUND), metric(400), 0);
    RuleVerdict bad = threshold(new Threshold(true, 5, On.BOUND), metric(400), 0);
    GateVerdict passed = new GateVerdict(OPTIONS, List.of(good));
    GateVerdict failed = new GateVerdict(OPTIONS, List.of(good, bad));

    passed.require(Path.of("gate.json"));
    assertThatThrownBy(() -> failed.require(Path.of("gate.json")))
        .hasMessage("the gate failed: " + bad.reason())
        .isInstanceOfSatisfying(
            NexaException.class,
            error -> {
              assertThat(error.code()).isEqualTo(ErrorCode.GATE_FAILED);
              assertThat(error.exitCode().status()).isEqualTo(6);
            });
    assertThat(failed.json("a", Optional.of("b")).text("verdict")).isEqualTo("fail");
  }

  private static Optional<MetricSummary> metric(long n) {
    return Optional.of(
        new MetricSummary(
            "dss",
            3.6,
            n,
            OptionalDouble.empty(),
            Optional.of(new dev.nexa.slurm.data.stats.Interval(3.45, 3.75, 0.95)),
            true));
  }

  private static RuleVerdict threshold(
      Threshold threshold, Optional<MetricSummary> metric, long missing) {
    return Gate.threshold(new Rule("dss", true, threshold), threshold, metric, missing, OPTIONS);
  }

  private static RuleVerdict noWorse(Pairs pairs, NoWorse wanted, GateSettings options) {
    return Gate.noWorse(new Rule("acc", true, wanted), wanted, pairs, options);
  }

  /** Scores that hang together by item; the candidate's are lower by {@code loss}. */
  private static Pairs scores(Random random, int n, double loss) {
    double[] candidate = new double[n];
    double[] baseline = new double[n];
    for (int i = 0; i < n; i++) {
      double item = 3 + random.nextGaussian();
      baseline[i] = item + 0.5 * random.nextGaussian();
      candidate[i] = item + 0.5 * random.nextGaussian() - loss;
    }
    return new Pairs(candidate, baseline, 0, 0, 0);
  }

  /** Right and wrong answers, of which one in five differs. */
  private static Pairs answers(Random random, int n, double loss) {
    double[] candidate = new double[n];
    double[] baseline = new double[n];
    for (int i = 0; i < n; i++) {
      baseline[i] = random.nextDouble() < 0.6 ? 1 : 0;
      candidate[i] = baseline[i];
      if (random.nextDouble() < 0.2) {
        candidate[i] = random.nextDouble() < 0.6 - loss ? 1 : 0;
      }
    }
    return new Pairs(candidate, baseline, 0, 0, 0);
  }
}
