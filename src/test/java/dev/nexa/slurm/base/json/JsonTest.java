package dev.nexa.slurm.base.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

  @Test
  void keysKeepTheirOrderSoThatTheSameValueIsTheSameBytes() {
    JsonObject value = new JsonObject().with("z", 1).with("a", 2L).with("m", List.of(true, "x"));

    assertThat(Json.compact(value)).isEqualTo("{\"z\":1,\"a\":2,\"m\":[true,\"x\"]}");
  }

  @Test
  void prettyTextIsWhatPeopleRead() {
    JsonObject value =
        new JsonObject()
            .with("run_id", "train_20251101_143200")
            .with("cost_usd", new BigDecimal("8.50"))
            .with("eval_report", null)
            .with("tags", List.of("a", "b"))
            .with("empty", new JsonObject())
            .with("jobs", List.of(new JsonObject().with("job_id", 17L)))
            .with("at", Instant.parse("2025-11-01T14:32:00Z"));

    assertThat(Json.pretty(value))
        .isEqualTo(
            """
            {
              "run_id": "train_20251101_143200",
              "cost_usd": 8.50,
              "eval_report": null,
              "tags": ["a","b"],
              "empty": {},
              "jobs": [
                {"job_id":17}
              ],
              "at": "2025-11-01T14:32:00Z"
            }
            """);
  }

  @ParameterizedTest
  @CsvSource({"8.50, 8.50", "1E+3, 1000", "0.00000001, 0.00000001", "2e-5, 0.000020"})
  void decimalsAreNeverWrittenAsFloats(BigDecimal number, BigDecimal same) {
    String text = Json.compact(number);

    assertThat(text).doesNotContain("E").doesNotContain("e");
    assertThat(new BigDecimal(text)).isEqualByComparingTo(same);
  }

  @Test
  void anyTextComesBackUnchanged() {
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < 5_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(12); n > 0; n--) {
        text.appendCodePoint(anyCharacter(random));
      }
      JsonObject value = new JsonObject().with(text.toString(), List.of(text.toString()));

      for (String written : List.of(Json.compact(value), Json.pretty(value))) {
        JsonObject back = Json.parseObject(written);
        assertThat(back.texts(text.toString())).containsExactly(text.toString());
      }
      assertThat(Json.compact(value)).doesNotContain("\n");
    }
  }

  private static int anyCharacter(SplittableRandom random) {
    int[] awkward = "\"\\/\n\t\r\b\u0000\u001f\u007f\u2028é漢😀{}[]:,x".codePoints().toArray();
    return awkward[random.nextInt(awkward.length)];
  }

  @Test
  void aKeyThatIsWrittenTwiceIsRefused() {
    assertThatThrownBy(() -> Json.parseObject("{\"cost\": 1, \"cost\": 2}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Duplicate Object property \"cost\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "{\"a\":",
        "{\"a\":1",
        "[1]",
        "17",
        "{} {}",
        "{}x",
        "{a:1}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":NaN}",
        "{\"a\":1,}",
        "{\"a\":\"\n\"}",
        "{\"a\":[1,]}",
        "{\"a\":[1"
      })
  void whatIsNoSingleObjectIsRefused(String text) {
    assertThatThrownBy(() -> Json.parseObject(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aMemberOfAnotherTypeIsNamed() {
    JsonObject json =
        Json.parseObject("{\"id\": 17, \"name\": \"x\", \"list\": [1], \"no\": null}");

    assertThatThrownBy(() -> json.text("id")).hasMessage("expected a string under \"id\"");
    assertThatThrownBy(() -> json.text("missing"))
        .hasMessage("expected a string under \"missing\"");
    assertThatThrownBy(() -> json.number("name")).hasMessage("expected a number under \"name\"");
    assertThatThrownBy(() -> json.object("name")).hasMessage("expected an object under \"name\"");
    assertThatThrownBy(() -> json.flag("name")).hasMessage("expected true or false under \"name\"");
    assertThatThrownBy(() -> json.texts("name"))
        .hasMessage("expected a list of strings under \"name\"");
    assertThatThrownBy(() -> json.instant("name"))
        .hasMessage("expected a time such as 2025-11-01T14:32:00Z under \"name\"");
    assertThatThrownBy(() -> Json.parseObject("{\"id\": 1.5}").number("id"))
        .hasMessage("expected a whole number under \"id\"");
    assertThat(json.optionalText("no")).isEmpty();
    assertThat(json.optionalDecimal("no")).isEmpty();
    assertThat(json.optionalObject("id")).isEmpty();
  }

  @Test
  void aListOfOtherThingsIsRefusedToo() {
    JsonObject json = Json.parseObject("{\"tags\": [\"a\", 1], \"jobs\": [{}, null]}");

    assertThatThrownBy(() -> json.texts("tags"))
        .hasMessage("expected a list of strings under \"tags\"");
    assertThatThrownBy(() -> json.objects("jobs"))
        .hasMessage("expected a list of objects under \"jobs\"");
  }

  @Test
  void numbersComeBackExactly() {
    JsonObject json = Json.parseObject("{\"cost\": 8.50, \"id\": 123456789012345678}");

    assertThat(json.decimal("cost")).isEqualTo(new BigDecimal("8.50"));
    assertThat(json.number("id")).isEqualTo(123456789012345678L);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1e999999999", "1e-999999999", "1e1001", "1e99999999999"})
  void aNumberThatWouldFillTheDiskIsRefused(String number) {
    assertThatThrownBy(() -> Json.parseObject("{\"loss\": " + number + "}"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anEmptyOptionalAddsNothing() {
    assertThat(
            new JsonObject().withOptional("a", Optional.empty()).withOptional("b", Optional.of(1)))
        .hasToString("{\"b\":1}");
  }

  @Test
  void aValueThatIsNotJsonIsADefect() {
    assertThatThrownBy(() -> Json.compact(1.5)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Json.compact(new JsonObject().with("x", new Object())))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
