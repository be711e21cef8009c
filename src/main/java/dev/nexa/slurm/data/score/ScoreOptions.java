package dev.nexa.slurm.data.score;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The rubrics to score, and the weights of their sum.
 *
 * @param rubrics in the order of the judge's answer
 * @param weights by rubric, for the composite score; empty if there is none
 * @param composite the name of the composite score
 * @param maxUnscored the largest share of items without a score
 * @param seed of the bootstrap
 */
public record ScoreOptions(
    List<Rubric> rubrics,
    Scale scale,
    Map<String, BigDecimal> weights,
    String composite,
    double maxUnscored,
    long seed) {
  /** The name of the composite score that has no other name. */
  public static final String DSS = "dss";

  /** The weights of the composite score that has no other weights. */
  public static final Map<String, BigDecimal> DSS_WEIGHTS =
      Map.of(
          "falsifiability", new BigDecimal("0.3"),
          "grounding", new BigDecimal("0.2"),
          "completeness", new BigDecimal("0.2"),
          "safety", new BigDecimal("0.2"),
          "novelty", new BigDecimal("0.1"));

  /** Returns the weighted sum of the scores; empty if there are no weights. */
  public Optional<BigDecimal> composite(Map<String, BigDecimal> scores) {
    if (weights.isEmpty()) {
      return Optional.empty();
    }
    BigDecimal sum = BigDecimal.ZERO;
    for (Rubric rubric : rubrics) {
      BigDecimal weight = weights.get(rubric.name());
      BigDecimal score = scores.get(rubric.name());
      if (weight != null && score != null) {
        sum = sum.add(weight.multiply(score));
      }
    }
    return Optional.of(sum);
  }

  /** Returns the errors in the options; empty if there are none. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    List<String> names = rubrics.stream().map(Rubric::name).toList();
    for (String name : weights.keySet()) {
      if (!names.contains(name)) {
        problems.add("weights." + name + ": there is no such rubric among " + names);
      }
    }
    BigDecimal sum = weights.values().stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    if (!weights.isEmpty() && sum.compareTo(BigDecimal.ONE) != 0) {
      problems.add("weights: their sum is " + sum.toPlainString() + "; expected 1");
    }
    if (names.contains(composite)) {
      problems.add("composite: " + composite + " is the name of a rubric");
    }
    return problems;
  }
}
