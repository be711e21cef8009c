package dev.nexa.slurm.data.score;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.data.score.Judgement.Scored;
import dev.nexa.slurm.data.score.Judgement.Unscored;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

class JudgementTest {
  private static final List<Rubric> RUBRICS =
      List.of(Rubric.BUILT_IN.get(0), Rubric.BUILT_IN.get(1));
  private static final Scale WHOLE = new Scale(BigDecimal.ONE, BigDecimal.valueOf(5), true);
  private static final Scale DECIMAL = new Scale(BigDecimal.ONE, BigDecimal.valueOf(5), false);

  private static final String GOOD = good("4", "2");

  private static String good(String one, String two) {
    return "{\"falsifiability\": {\"reason\": \"r\", \"score\": "
        + one
        + "},"
        + " \"novelty\": {\"reason\": \"s\", \"score\": "
        + two
        + "}}";
  }

  /** Answers that mean the same as GOOD. */
  static final List<String> ACCEPTED =
      List.of(
          GOOD,
          "\n  " + GOOD + "\r\n",
          "```json\n" + GOOD + "\n```",
          "```\n" + GOOD + "\n```\n",
          "```JSON\r\n" + GOOD + "\r\n```",
          good("4.0", "2e0"),
          // The order of keys is not part of JSON.
          "{\"novelty\":{\"score\":2,\"reason\":\"s\"},"
              + "\"falsifiability\":{\"score\":4,\"reason\":\"r\"}}");

  /** Answers from which no score may be read. */
  static final List<String> MALFORMED =
      List.of(
          "",
          "   \n",
          "null",
          "4",
          "\"4\"",
          "true",
          "[]",
          "[" + GOOD + "]",
          "{}",
          "{",
          GOOD.substring(0, GOOD.length() - 1),
          GOOD.substring(0, GOOD.length() / 2),
          GOOD + GOOD,
          GOOD + " That is my judgement.",
          "Here is the judgement: " + GOOD,
          "Here you are:\n```json\n" + GOOD + "\n```",
          "```json\n" + GOOD + "\n```\nI hope that this helps.",
          "```json\n" + GOOD + "\n```\n```json\n" + GOOD + "\n```",
          "```json\n" + GOOD,
          "```json\n```",
          "```python\n" + GOOD + "\n```",
          "~~~\n" + GOOD + "\n~~~",
          "`" + GOOD + "`",
          GOOD.replace('"', '\''),
          GOOD.replace("\"", ""),
          GOOD.replace("}}", "},}"),
          GOOD.replace("\"s\",", "\"s\"," + " /* a comment */"),
          "\ufeff" + GOOD,
          "\u00a0" + GOOD,
          "\u201c" + GOOD.replace('"', '\u201d'),
          good("0", "2"),
          good("6", "2"),
          good("-4", "2"),
          good("4.5", "2"),
          good("4,5", "2"),
          good("1e400", "2"),
          good("1e999999999", "2"),
          good("\"4\"", "2"),
          good("\"five\"", "2"),
          good("five", "2"),
          good("null", "2"),
          good("true", "2"),
          good("[4]", "2"),
          good("{\"score\": 4}", "2"),
          good("NaN", "2"),
          good("Infinity", "2"),
          good("04", "2"),
          good("+4", "2"),
          good("4/5", "2"),
          good("0x4", "2"),
          good("\uff14", "2"),
          good("\u0664", "2"),
          good("\"\uff14\"", "2"),
          good("4 2", "2"),
          good("4, \"score\": 5", "2"),
          good("4, \"confidence\": 1", "2"),
          good("", "2"),
          GOOD.replace("\"r\"", "7"),
          GOOD.replace("\"r\"", "null"),
          GOOD.replace("\"reason\": \"r\", ", ""),
          GOOD.replace("\"score\"", "\"Score\""),
          GOOD.replace("novelty", "Novelty"),
          GOOD.replace("novelty", "novelties"),
          GOOD.replace("novelty", "falsifiability"),
          GOOD.replace("}}", "}, \"safety\": {\"reason\": \"t\", \"score\": 5}}"),
          "{\"falsifiability\": {\"reason\": \"r\", \"score\": 4}}",
          "{\"falsifiability\": 4, \"novelty\": 2}",
          "{\"scores\": " + GOOD + "}",
          "{\"falsifiability\": [" + "[".repeat(5000),
          "{\"a\":".repeat(5000),
          GOOD.replace("\"r\"", "\"line\nbreak\""),
          GOOD.replace("\"r\"", "\"\\x41\""),
          "Score: 4",
          "[RESULT] 4",
          "I cannot judge this.",
          "<think>a good answer</think>" + GOOD);

  @ParameterizedTest
  @FieldSource("ACCEPTED")
  void anObjectAloneOrInOneFencedBlockIsRead(String answer) {
    assertThat(Judgement.parse(answer, RUBRICS, WHOLE)).isInstanceOf(Scored.class);
    Scored scored = (Scored) Judgement.parse(answer, RUBRICS, WHOLE);
    assertThat(scored.scores().get("falsifiability")).isEqualByComparingTo("4");
    assertThat(scored.scores().get("novelty")).isEqualByComparingTo("2");
    assertThat(scored.reasons()).containsEntry("falsifiability", "r").containsEntry("novelty", "s");
  }

  @ParameterizedTest
  @FieldSource("MALFORMED")
  void anyOtherAnswerHasNoScoreAndAReason(String answer) {
    for (Scale scale : List.of(WHOLE, DECIMAL)) {
      Judgement judgement = Judgement.parse(answer, RUBRICS, scale);
      if (scale.equals(DECIMAL) && answer.equals(good("4.5", "2"))) {
        assertThat(judgement).isInstanceOf(Scored.class);
        continue;
      }
      assertThat(judgement).isInstanceOf(Unscored.class);
      assertThat(((Unscored) judgement).reason()).isNotBlank();
    }
  }

  @Test
  void theReasonNamesTheRubricAndTheValue() {
    assertThat(reason(good("4.5", "2")))
        .isEqualTo("falsifiability.score: 4.5 is not a whole number from 1 to 5");
    assertThat(reason(good("4", "\"2\"")))
        .isEqualTo("novelty.score: expected a number, not a string");
    assertThat(reason("")).isEqualTo("the answer is empty");
  }

  private static String reason(String answer) {
    return ((Unscored) Judgement.parse(answer, RUBRICS, WHOLE)).reason();
  }

  /**
   * Valid answers with random edits. Whatever is accepted has the scores that a pattern over the
   * whole answer reads; and whatever the pattern matches is accepted.
   */
  @Test
  void mutatedAnswersHaveNoScoreOrTheirOwn() {
    Random random = new Random(40);
    int accepted = 0;
    for (int i = 0; i < 60_000; i++) {
      String answer = mutated(valid(random), random);
      Judgement judgement = Judgement.parse(answer, RUBRICS, WHOLE);
      Optional<Map<String, Integer>> expected = byPattern(answer);
      if (judgement instanceof Scored scored) {
        accepted++;
        assertThat(expected).as(answer).isPresent();
        expected
            .get()
            .forEach(
                (name, score) ->
                    assertThat(scored.scores().get(name))
                        .as(answer)
                        .isEqualByComparingTo("" + score));
      } else {
        assertThat(expected).as(answer).isEmpty();
      }
    }
    assertThat(accepted).isBetween(2_000, 58_000);
  }

  private static String valid(Random random) {
    String answer = good("" + (1 + random.nextInt(5)), "" + (1 + random.nextInt(5)));
    return random.nextInt(3) == 0 ? "```json\n" + answer + "\n```" : answer;
  }

  private static String mutated(String answer, Random random) {
    StringBuilder text = new StringBuilder(answer);
    String alphabet = "0123456789.-+eE{}[]\",:`' \nrsx\u0664\uff15\ufeff";
    for (int i = random.nextInt(3); i > 0; i--) {
      int at = random.nextInt(text.length());
      switch (random.nextInt(4)) {
        case 0 -> text.deleteCharAt(at);
        case 1 -> text.insert(at, alphabet.charAt(random.nextInt(alphabet.length())));
        case 2 -> text.setCharAt(at, alphabet.charAt(random.nextInt(alphabet.length())));
        default -> text.insert(at, text.charAt(random.nextInt(text.length())));
      }
    }
    return text.toString();
  }

  private static final String SPACE = "[ \\t\\r\\n]*";
  private static final Pattern STRING =
      Pattern.compile("\"((?:[^\"\\\\\\x00-\\x1f]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4})*)\"");
  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");

  /** An independent reading: a grammar of its own for exactly these objects. */
  private static Optional<Map<String, Integer>> byPattern(String answer) {
    String text = answer.replaceAll("\\A" + SPACE + "|" + SPACE + "\\z", "");
    if (text.startsWith("```")) {
      Matcher fenced = Pattern.compile("(?s)```(?:json|JSON)?[ \\t]*\\r?\\n(.*)```").matcher(text);
      if (!fenced.matches() || fenced.group(1).contains("```")) {
        return Optional.empty();
      }
      text = fenced.group(1);
    }
    List<String> tokens = new ArrayList<>();
    Pattern token =
        Pattern.compile(SPACE + "(" + STRING.pattern() + "|" + NUMBER.pattern() + "|[{}:,])");
    int at = 0;
    Matcher next = token.matcher(text);
    while (next.region(at, text.length()).lookingAt()) {
      tokens.add(next.group(1));
      at = next.end();
    }
    if (!text.substring(at).replaceAll(SPACE, "").isEmpty()) {
      return Optional.empty();
    }
    return objects(tokens);
  }

  private static Optional<Map<String, Integer>> objects(List<String> tokens) {
    String shape = String.join("\u0000", tokens);
    String one = "\\{\0K\0:\0V\0,\0K\0:\0V\0\\}".replace("K", STRING.pattern());
    String value = "(?:" + STRING.pattern() + "|" + NUMBER.pattern() + ")";
    String inner = one.replace("V", value);
    Pattern whole =
        Pattern.compile(
            "\\{\0(?<a>"
                + STRING.pattern()
                + ")\0:\0(?<x>"
                + inner
                + ")\0,\0(?<b>"
                + STRING.pattern()
                + ")\0:\0(?<y>"
                + inner
                + ")\0\\}");
    Matcher matcher = whole.matcher(shape);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    Map<String, Integer> scores = new LinkedHashMap<>();
    for (String[] pair :
        List.of(
            new String[] {matcher.group("a"), matcher.group("x")},
            new String[] {matcher.group("b"), matcher.group("y")})) {
      Optional<Integer> score = score(List.of(pair[1].split("\0", -1)));
      if (score.isEmpty()) {
        return Optional.empty();
      }
      scores.put(pair[0].substring(1, pair[0].length() - 1), score.get());
    }
    return scores.keySet().equals(java.util.Set.of("falsifiability", "novelty"))
        ? Optional.of(scores)
        : Optional.empty();
  }

  private static Optional<Integer> score(List<String> tokens) {
    Map<String, String> members = Map.of("first", tokens.get(1), "second", tokens.get(5));
    boolean ordered = members.equals(Map.of("first", "\"reason\"", "second", "\"score\""));
    boolean swapped = members.equals(Map.of("first", "\"score\"", "second", "\"reason\""));
    if (!ordered && !swapped) {
      return Optional.empty();
    }
    String reason = tokens.get(ordered ? 3 : 7);
    String score = tokens.get(ordered ? 7 : 3);
    if (!reason.startsWith("\"") || score.startsWith("\"")) {
      return Optional.empty();
    }
    double value = Double.parseDouble(score);
    return value == Math.rint(value) && value >= 1 && value <= 5
        ? Optional.of((int) value)
        : Optional.empty();
  }
}
