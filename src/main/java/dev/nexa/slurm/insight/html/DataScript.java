package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Rows for the program of the page, column by column, as JSON in an element that no browser runs.
 * Repeated words are stored once.
 */
final class DataScript {
  private final int rows;
  private final StringJoiner columns = new StringJoiner(",");
  private final Map<String, Integer> digits = new LinkedHashMap<>();

  DataScript(int rows) {
    this.rows = rows;
  }

  /** Adds the number of decimals of a currency. */
  DataScript digits(String currency) {
    digits.put(currency, Money.minorDigits(currency));
    return this;
  }

  private DataScript column(String name, String kind, Stream<String> values) {
    columns.add("\"" + name + "\":{\"" + kind + "\":[" + joined(values) + "]}");
    return this;
  }

  private static String joined(Stream<String> values) {
    return values.collect(Collectors.joining(","));
  }

  /** Adds a column of texts that are not repeated. */
  <T> DataScript values(String name, List<T> all, Function<T, String> value) {
    return column(name, "values", all.stream().map(value).map(DataScript::quoted));
  }

  /** Adds a column of texts that many rows share. */
  <T> DataScript words(String name, List<T> all, Function<T, String> word) {
    Map<String, Integer> known = new LinkedHashMap<>();
    String at =
        joined(
            all.stream()
                .map(word)
                .map(text -> known.computeIfAbsent(text, added -> known.size()).toString()));
    String words = joined(known.keySet().stream().map(DataScript::quoted));
    columns.add("\"" + name + "\":{\"words\":[" + words + "],\"at\":[" + at + "]}");
    return this;
  }

  /** Adds a column of whole numbers; null where one is not known. */
  <T> DataScript numbers(String name, List<T> all, Function<T, Optional<Long>> number) {
    return column(
        name,
        "values",
        all.stream().map(one -> number.apply(one).map(String::valueOf).orElse("null")));
  }

  /** Returns a text as JSON that cannot end the element or begin a comment. */
  private static String quoted(String text) {
    String json = Json.compact(VisibleText.line(text));
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (c == '<' || c == '>' || c == '&') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(Tag.isAlone(json, i) ? '\ufffd' : c);
      }
    }
    return out.toString();
  }

  /** Returns the element that holds the rows. */
  Tag element(String id) {
    String decimals =
        joined(digits.entrySet().stream().map(one -> quoted(one.getKey()) + ":" + one.getValue()));
    return Tag.of("script")
        .with("type", "application/json")
        .with("id", id)
        .raw("{\"rows\":%s,\"digits\":{%s},\"columns\":{%s}}".formatted(rows, decimals, columns));
  }

  /** Returns an amount in the currency's smallest unit. */
  static long minorUnits(BigDecimal amount, String currency) {
    return amount
        .movePointRight(Money.minorDigits(currency))
        .setScale(0, RoundingMode.HALF_EVEN)
        .longValueExact();
  }

  /** Returns a text of at most so many characters; a longer one ends with an ellipsis. */
  static String shortened(String text, int most) {
    return text.length() <= most ? text : text.substring(0, most) + "\u2026";
  }
}
