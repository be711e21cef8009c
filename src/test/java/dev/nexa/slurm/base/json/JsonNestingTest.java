package dev.nexa.slurm.base.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

class JsonNestingTest {
  private static final String[] TEXTS = {
    "", "{", "]", "[[{{", "\"", "\\", "\\\\\"", "\\\"{", "\n[", "é{", "\u0000", "a\\"
  };

  private final Random random = new Random(7);

  private static long found(String text, int deepest, int part) {
    JsonNesting nesting = new JsonNesting(deepest);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int from = 0; from < bytes.length; from += part) {
      byte[] next = Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + part));
      nesting.add(next, next.length);
    }
    return nesting.found().orElse(0);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"a\":[1]} | 2 | 0",
        "{\"a\":[1]} | 1 | 1",
        "\"[[[[\" | 1 | 0",
        "[\"\\\"[[[\"] | 1 | 0",
        "[\"\\\\\",[]] | 1 | 1",
        "[1],[2],[3] | 1 | 0",
        "[] | 0 | 1",
      })
  void countsArraysAndObjectsOutsideOfStrings(String text, int deepest, long line) {
    assertThat(found(text, deepest, 100)).isEqualTo(line);
  }

  @Test
  void namesTheFirstLineAndALineThatIsCutShortEndsWithItsLine() {
    assertThat(found("{\"a\":[\n{\"a\":\"[\n\n[[[1]]]\n[[[[1]]]]\n", 2, 3)).isEqualTo(4);
    assertThat(found("{\"a\":[\n{\"a\":\"[\n\n[[1]]", 2, 1)).isZero();
  }

  /** Jackson's parser says how deep a random value is. */
  @Test
  void theDepthIsThatOfJackson() {
    for (int n = 0; n < 2000; n++) {
      String text = value(8);
      int depth = depth(text);
      int part = 1 + random.nextInt(9);
      assertThat(found(text, depth, part)).as(text).isZero();
      if (depth > 0) {
        assertThat(found("1\n" + text, depth - 1, part)).as(text).isEqualTo(2);
      }
    }
  }

  private static int depth(String text) {
    int depth = 0;
    int deepest = 0;
    try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), text)) {
      for (JsonToken next = parser.nextToken(); next != null; next = parser.nextToken()) {
        depth += next.isStructStart() ? 1 : next.isStructEnd() ? -1 : 0;
        deepest = Math.max(deepest, depth);
      }
    }
    return deepest;
  }

  private String value(int levels) {
    int kind = random.nextInt(levels > 0 ? 6 : 3);
    if (kind == 0) {
      return "" + random.nextInt();
    }
    if (kind < 3) {
      return text();
    }
    StringBuilder all = new StringBuilder();
    for (int i = random.nextInt(4); i > 0; i--) {
      all.append(all.length() == 0 ? "" : ",");
      all.append(kind == 3 ? "" : text() + " :").append(value(levels - 1));
    }
    return kind == 3 ? "[" + all + "]" : "{" + all + "}";
  }

  private String text() {
    StringBuilder all = new StringBuilder();
    for (int i = random.nextInt(3); i > 0; i--) {
      all.append(TEXTS[random.nextInt(TEXTS.length)]);
    }
    return Json.compact(new JsonObject().with("k", all.toString()))
        .replaceFirst("^\\{\"k\":(.*)}$", "$1");
  }
}
