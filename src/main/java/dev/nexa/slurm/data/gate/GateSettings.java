package dev.nexa.slurm.data.gate;

import dev.nexa.slurm.base.error.Arguments;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.gate.Rule.Condition;
import dev.nexa.slurm.data.gate.Rule.Mode;
import dev.nexa.slurm.data.gate.Rule.NoWorse;
import dev.nexa.slurm.data.gate.Rule.On;
import dev.nexa.slurm.data.gate.Rule.Threshold;
import dev.nexa.slurm.data.score.Rubric;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The settings of the step {@code gate}.
 *
 * @param alpha the probability with which a rule fails although nothing became worse
 * @param seed of the bootstrap
 * @param resamples how often the bootstrap draws the items at most
 * @param maxMissing the largest share of items without a value, or without a partner
 * @param minItems the fewest items that a decision needs
 * @param id the columns that together name an item; empty to use {@code custom_id} or {@code
 *     doc_id}
 */
public record GateSettings(
    List<Rule> rules,
    double alpha,
    long seed,
    int resamples,
    double maxMissing,
    int minItems,
    List<String> id) {
  private static final String AT_LEAST = "at_least";

  private static final String NO_WORSE = "no_worse";

  /**
   * Reads the settings, which have all defaults.
   *
   * @throws IllegalArgumentException if a value is wrong; the message names the key
   */
  public static GateSettings of(JsonObject json) {
    List<Rule> rules = json.objects("rules").stream().map(GateSettings::rule).toList();
    Arguments.require(!rules.isEmpty(), "rules: at least one is needed");
    double alpha = json.decimal("alpha").doubleValue();
    Arguments.require(alpha > 0 && alpha < 0.5, "alpha: expected a number between 0 and 0.5");
    return new GateSettings(
        rules,
        alpha,
        json.number("seed"),
        (int) json.number("resamples"),
        json.decimal("max_missing").doubleValue(),
        (int) json.number("min_items"),
        json.members().containsKey("id") ? json.texts("id") : List.of());
  }

  private static Rule rule(JsonObject json) {
    String metric = json.text("metric");
    List<String> kinds = new ArrayList<>(List.of(AT_LEAST, "at_most", NO_WORSE));
    kinds.retainAll(json.members().keySet());
    Arguments.require(
        kinds.size() == 1,
        "rules: " + metric + " needs exactly one of at_least, at_most and no_worse");
    Condition condition = kinds.contains(NO_WORSE) ? noWorse(json) : threshold(json, kinds.get(0));
    return new Rule(metric, isHigherBetter(json, metric), condition);
  }

  private static boolean isHigherBetter(JsonObject json, String metric) {
    Optional<String> better = json.optionalText("better");
    if (better.isPresent() && !List.of("higher", "lower").contains(better.get())) {
      throw new IllegalArgumentException("rules: expected higher or lower under \"better\"");
    }
    return better
        .map("higher"::equals)
        .orElseGet(() -> Rubric.builtIn(metric).map(Rubric::higherIsBetter).orElse(true));
  }

  private static Threshold threshold(JsonObject json, String kind) {
    String on = json.optionalText("on").orElse(On.BOUND.text());
    boolean bound = on.equals(On.BOUND.text());
    if (!bound && !on.equals(On.ESTIMATE.text())) {
      throw new IllegalArgumentException(
          "rules: expected bound or estimate under \"on\", not " + on);
    }
    double limit = json.decimal(kind).doubleValue();
    return new Threshold(kind.equals(AT_LEAST), limit, bound ? On.BOUND : On.ESTIMATE);
  }

  private static NoWorse noWorse(JsonObject json) {
    String mode = json.text(NO_WORSE);
    double effect = json.optionalDecimal("minimum_effect").orElse(BigDecimal.ZERO).doubleValue();
    Arguments.require(effect >= 0, "rules: minimum_effect must be at least 0");
    boolean regression = mode.equals(Mode.REGRESSION.text());
    if (!regression && !mode.equals(Mode.NON_INFERIORITY.text())) {
      throw new IllegalArgumentException(
          "rules: expected regression or non_inferiority under \"no_worse\", not " + mode);
    }
    if (!regression && effect == 0) {
      throw new IllegalArgumentException(
          "rules: non_inferiority needs a minimum_effect above 0: the largest loss that is"
              + " acceptable");
    }
    return new NoWorse(regression ? Mode.REGRESSION : Mode.NON_INFERIORITY, effect);
  }
}
