package dev.nexa.slurm.data.gate;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.gate.Rule.Mode;
import dev.nexa.slurm.data.gate.Rule.NoWorse;
import dev.nexa.slurm.data.gate.Rule.On;
import dev.nexa.slurm.data.gate.Rule.Threshold;
import dev.nexa.slurm.data.score.MetricSummary;
import dev.nexa.slurm.data.stats.Bootstrap;
import dev.nexa.slurm.data.stats.Interval;
import dev.nexa.slurm.data.stats.McNemar;
import dev.nexa.slurm.data.stats.Normal;
import dev.nexa.slurm.data.stats.Sample;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Decides the rules of a gate. */
public final class Gate {
  /** The probability of finding the minimum detectable effect. */
  private static final double POWER = 0.8;

  private static final MathContext PROBABILITY = new MathContext(2);
  private static final MathContext SHOWN = new MathContext(4);
  private static final String METRIC = "metric";
  private static final String RULE = "rule";
  private static final String CANDIDATE = "candidate";
  private static final String MISSING = "missing";

  private Gate() {}

  /**
   * Compares a metric with a limit.
   *
   * @param metric empty if the evaluation has no value of it
   * @param missing items without a value; 0 if it is not known
   */
  public static RuleVerdict threshold(
      Rule rule,
      Threshold threshold,
      Optional<MetricSummary> metric,
      long missing,
      GateSettings settings) {
    String wanted = (threshold.atLeast() ? "at least " : "at most ") + shown(threshold.limit());
    JsonObject figures =
        new JsonObject()
            .with(METRIC, rule.metric())
            .with(RULE, threshold.atLeast() ? "at_least" : "at_most")
            .with("limit", MetricSummary.number(threshold.limit()))
            .with("on", threshold.on().text());
    if (metric.isEmpty()) {
      return new RuleVerdict(false, rule.metric() + " has no value in the evaluation", figures);
    }
    MetricSummary found = metric.get();
    figures
        .with(CANDIDATE, MetricSummary.number(found.value()))
        .with("n", found.n())
        .with(MISSING, missing);
    found.interval().ifPresent(it -> interval(figures, it));
    String sentence =
        "%s is %s (%s%s)"
            .formatted(
                rule.metric(),
                shown(found.value()),
                found.n() > 0 ? "n = " + found.n() + ", " : "",
                found.interval().map(Gate::shown).orElse("no interval"));
    Optional<String> unfit =
        unfit(found.n(), (double) missing / Math.max(1, found.n() + missing), settings);
    if (found.n() > 0 && unfit.isPresent()) {
      return new RuleVerdict(false, sentence + "; " + unfit.get(), figures);
    }
    if (threshold.on() == On.BOUND && found.interval().isEmpty()) {
      return new RuleVerdict(
          false, sentence + "; it has no interval, so the rule needs `on: estimate`", figures);
    }
    double compared = found.value();
    String name = "it";
    if (threshold.on() == On.BOUND) {
      Interval interval = found.interval().orElseThrow();
      compared = threshold.atLeast() ? interval.lower() : interval.upper();
      name = threshold.atLeast() ? "its lower bound" : "its upper bound";
    }
    boolean passed =
        threshold.atLeast() ? compared >= threshold.limit() : compared <= threshold.limit();
    return new RuleVerdict(
        passed, sentence + "; " + name + (passed ? " is " : " must be ") + wanted, figures);
  }

  /** Compares a metric with the baseline's, by the same items. */
  public static RuleVerdict noWorse(Rule rule, NoWorse wanted, Pairs pairs, GateSettings settings) {
    JsonObject figures =
        new JsonObject()
            .with(METRIC, rule.metric())
            .with(RULE, "no_worse")
            .with("mode", wanted.mode().text())
            .with("better", rule.higherIsBetter() ? "higher" : "lower")
            .with("n", pairs.n())
            .with("only_candidate", pairs.onlyCandidate())
            .with("only_baseline", pairs.onlyBaseline())
            .with(MISSING, pairs.neither())
            .with("minimum_effect", MetricSummary.number(wanted.minimumEffect()));
    Optional<String> unfit = unfit(pairs.n(), pairs.missing(), settings);
    if (unfit.isPresent()) {
      return new RuleVerdict(false, rule.metric() + " cannot be compared: " + unfit.get(), figures);
    }
    double[] gains = pairs.gains(rule.higherIsBetter());
    double gain = Sample.mean(gains);
    Bootstrap bootstrap = Bootstrap.of(gains, settings.seed(), settings.resamples());
    Interval interval = bootstrap.interval(1 - 2 * settings.alpha());
    int losses = count(gains, -1);
    int wins = count(gains, 1);
    boolean exact =
        wanted.mode() == Mode.REGRESSION
            && Sample.isBinary(pairs.candidate())
            && Sample.isBinary(pairs.baseline());
    double p =
        wanted.mode() == Mode.NON_INFERIORITY
            ? bootstrap.atMost(-wanted.minimumEffect())
            : exact ? McNemar.atLeast(losses, wins) : bootstrap.atLeast(0);
    double detectable =
        (Normal.quantile(1 - settings.alpha()) + Normal.quantile(POWER))
            * Sample.standardError(gains);
    if (exact) {
      detectable =
          Math.max(detectable, (double) McNemar.fewestLosses(settings.alpha()) / pairs.n());
      figures.with("losses", losses).with("gains", wins);
    }
    Interval difference = rule.higherIsBetter() ? interval : mirrored(interval);
    double candidate = Sample.mean(pairs.candidate());
    double baseline = Sample.mean(pairs.baseline());
    figures
        .with(CANDIDATE, MetricSummary.number(candidate))
        .with("baseline", MetricSummary.number(baseline))
        .with("difference", MetricSummary.number(rule.higherIsBetter() ? gain : -gain));
    interval(figures, difference);
    figures
        .with("test", exact ? "mcnemar_exact" : "paired_bootstrap")
        .with("resamples", Bootstrap.resamples(pairs.n(), settings.resamples()))
        .with("p", MetricSummary.number(p))
        .with("minimum_detectable_effect", MetricSummary.number(detectable));
    boolean passed =
        wanted.mode() == Mode.NON_INFERIORITY
            ? p < settings.alpha()
            : p >= settings.alpha() || -gain < wanted.minimumEffect();
    String sentence =
        String.format(
            Locale.ROOT,
            "%s is %s against %s of the baseline (difference %s, n = %d, %s, p = %s by %s)",
            rule.metric(),
            shown(candidate),
            shown(baseline),
            shown(rule.higherIsBetter() ? gain : -gain),
            pairs.n(),
            shown(difference),
            new BigDecimal(p, PROBABILITY).stripTrailingZeros().toPlainString(),
            exact ? "McNemar's test" : "the paired bootstrap");
    return new RuleVerdict(
        passed, sentence + "; " + conclusion(passed, wanted, p, detectable, settings), figures);
  }

  private static String conclusion(
      boolean passed, NoWorse wanted, double p, double detectable, GateSettings settings) {
    String effect = shown(wanted.minimumEffect());
    if (wanted.mode() == Mode.NON_INFERIORITY) {
      return (passed ? "the loss is proven to be less than " : "the loss may be as large as ")
          + effect;
    }
    if (!passed) {
      return "it became worse, by at least the minimum effect of " + effect;
    }
    return p < settings.alpha()
        ? "the loss is less than the minimum effect of " + effect
        : "no loss is proven; a loss of %s would be found four times in five"
            .formatted(shown(detectable));
  }

  /** Returns why the items allow no decision; empty if they do. */
  private static Optional<String> unfit(long n, double missing, GateSettings settings) {
    if (missing > settings.maxMissing()) {
      return Optional.of(
          "%s %% of the items have no value or no partner; max_missing is %s %%"
              .formatted(shown(missing * 100), shown(settings.maxMissing() * 100)));
    }
    return n < settings.minItems()
        ? Optional.of("n = " + n + ", and min_items is " + settings.minItems())
        : Optional.empty();
  }

  private static int count(double[] values, int sign) {
    return (int) Arrays.stream(values).filter(value -> Math.signum(value) == sign).count();
  }

  private static Interval mirrored(Interval interval) {
    return new Interval(-interval.upper(), -interval.lower(), interval.confidence());
  }

  private static void interval(JsonObject figures, Interval interval) {
    figures
        .with("lower", MetricSummary.number(interval.lower()))
        .with("upper", MetricSummary.number(interval.upper()))
        .with("confidence", MetricSummary.number(interval.confidence()));
  }

  private static String shown(Interval interval) {
    return "%s %% interval %s to %s"
        .formatted(
            shown(interval.confidence() * 100), shown(interval.lower()), shown(interval.upper()));
  }

  private static String shown(double value) {
    BigDecimal rounded = new BigDecimal(value, SHOWN).stripTrailingZeros();
    return Math.abs(value) < 1e-6 ? "0" : rounded.toPlainString();
  }
}
