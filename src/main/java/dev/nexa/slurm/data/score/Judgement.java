package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.error.Arguments;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.BatchRequest;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A judge's answer, parsed strictly.
 *
 * <p>The answer is one JSON object, alone or alone in one fenced block. It has exactly the rubrics
 * as keys. Each value is an object with exactly a text {@code reason} and a number {@code score} on
 * the scale. Any other answer gives no score at all: the parser does not repair, round or guess.
 */
public sealed interface Judgement {
  /**
   * Scores for all rubrics.
   *
   * @param scores by rubric, in the order of the rubrics
   * @param reasons the judge's reasons, by rubric
   */
  record Scored(Map<String, BigDecimal> scores, Map<String, String> reasons) implements Judgement {}

  /** No score, and the reason. */
  record Unscored(String reason) implements Judgement {}

  /** Opens with three back quotes and {@code json} or nothing, and closes with three. */
  Pattern FENCED =
      Pattern.compile("```(?:json|JSON)?[ \\t]*\\r?\\n(.*?)\\r?\\n?```", Pattern.DOTALL);

  /** Parses an answer. Never throws. */
  static Judgement parse(String answer, List<Rubric> rubrics, Scale scale) {
    try {
      return scored(Json.parseObject(unfenced(answer)), rubrics, scale);
    } catch (IllegalArgumentException broken) {
      return new Unscored(BatchRequest.reason(broken));
    }
  }

  private static String unfenced(String answer) {
    String text = stripped(answer);
    Arguments.require(!text.isEmpty(), "the answer is empty");
    if (text.startsWith("```")) {
      Matcher fenced = FENCED.matcher(text);
      Arguments.require(
          fenced.matches() && !fenced.group(1).contains("```"),
          "expected one fenced block and nothing beside it");
      text = stripped(fenced.group(1));
    }
    Arguments.require(text.startsWith("{"), "the answer does not begin with a JSON object");
    return text;
  }

  /** Removes JSON's white space, and no other. */
  private static String stripped(String text) {
    int from = 0;
    int to = text.length();
    while (from < to && " \t\r\n".indexOf(text.charAt(from)) >= 0) {
      from++;
    }
    while (to > from && " \t\r\n".indexOf(text.charAt(to - 1)) >= 0) {
      to--;
    }
    return text.substring(from, to);
  }

  private static Scored scored(JsonObject json, List<Rubric> rubrics, Scale scale) {
    requireKeys("the answer", json, rubrics.stream().map(Rubric::name).toList());
    Map<String, BigDecimal> scores = new LinkedHashMap<>();
    Map<String, String> reasons = new LinkedHashMap<>();
    for (Rubric rubric : rubrics) {
      String name = rubric.name();
      if (!(json.members().get(name) instanceof JsonObject one)) {
        throw new IllegalArgumentException(name + ": expected an object");
      }
      requireKeys(name, one, List.of("reason", "score"));
      scores.put(name, score(name, one.members().get("score"), scale));
      if (!(one.members().get("reason") instanceof String reason)) {
        throw new IllegalArgumentException(name + ".reason: expected a string");
      }
      reasons.put(name, reason);
    }
    return new Scored(scores, reasons);
  }

  private static void requireKeys(String where, JsonObject json, List<String> names) {
    List<String> missing = new ArrayList<>(names);
    missing.removeAll(json.members().keySet());
    List<String> more = new ArrayList<>(json.members().keySet());
    more.removeAll(names);
    if (!missing.isEmpty()) {
      throw new IllegalArgumentException(where + ": the key " + missing.get(0) + " is missing");
    }
    if (!more.isEmpty()) {
      throw new IllegalArgumentException(where + ": unexpected key " + more.get(0));
    }
  }

  private static BigDecimal score(String name, @Nullable Object value, Scale scale) {
    if (!(value instanceof BigDecimal score)) {
      throw new IllegalArgumentException(name + ".score: expected a number, not a " + kind(value));
    }
    if (!scale.allows(score)) {
      throw new IllegalArgumentException(
          name + ".score: " + score.toPlainString() + " is not " + scale);
    }
    return score;
  }

  private static String kind(@Nullable Object value) {
    if (value == null) {
      return "null";
    }
    return value instanceof String
        ? "string"
        : value instanceof Boolean ? "boolean" : value instanceof List ? "list" : "object";
  }
}
