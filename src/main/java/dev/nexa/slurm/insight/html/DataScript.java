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
import java.util.function.Function;

/**
 * Rows for the program of the page, column by column, as JSON in an element that no browser runs.
 * Repeated words are stored once.
 */
final class DataScript {
  private final int rows;
  private final StringBuilder columns = new StringBuilder();
  private final Map<String, Integer> digits = new LinkedHashMap<>();

  DataScript(int rows) {
    this.rows = rows;
  }

  /** Adds the number of decimals of a currency. */
  DataScript digits(String currency) {
    digits.put(currency, Money.minorDigits(currency));
    return this;
  }

  private void column(String name) {
    columns.append(columns.length() == 0 ? "" : ",").append('"').append(name).append("\":{");
  }

  /** Adds a column of texts that are not repeated. */
  <T> DataScript values(String name, List<T> all, Function<T, String> value) {
    column(name);
    columns.append("\"values\":[");
    String separator = "";
    for (T one : all) {
      columns.append(separator);
      quote(columns, value.apply(one));
      separator = ",";
    }
    columns.append("]}");
    return this;
  }

  /** Adds a column of texts that many rows share. */
  <T> DataScript words(String name, List<T> all, Function<T, String> word) {
    Map<String, Integer> known = new LinkedHashMap<>();
    StringBuilder at = new StringBuilder();
    for (T one : all) {
      Integer number = known.computeIfAbsent(word.apply(one), text -> known.size());
      at.append(at.length() == 0 ? "" : ",").append(number);
    }
    column(name);
    columns.append("\"words\":[");
    String separator = "";
    for (String text : known.keySet()) {
      columns.append(separator);
      quote(columns, text);
      separator = ",";
    }
    columns.append("],\"at\":[").append(at).append("]}");
    return this;
  }

  /** Adds a column of whole numbers; null where one is not known. */
  <T> DataScript numbers(String name, List<T> all, Function<T, Optional<Long>> number) {
    column(name);
    columns.append("\"values\":[");
    String separator = "";
    for (T one : all) {
      Optional<Long> value = number.apply(one);
      columns.append(separator);
      if (value.isPresent()) {
        columns.append((long) value.get());
      } else {
        columns.append("null");
      }
      separator = ",";
    }
    columns.append("]}");
    return this;
  }

  /** Adds a text as JSON in which no text can end the element or begin a comment. */
  private static void quote(StringBuilder out, String text) {
    String json = Json.compact(VisibleText.line(text));
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (c == '<' || c == '>' || c == '&') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(Tag.isAlone(json, i) ? '\ufffd' : c);
      }
    }
  }

  /** Returns the element that holds the rows. */
  Tag element(String id) {
    StringBuilder json = new StringBuilder("{\"rows\":").append(rows).append(",\"digits\":{");
    String separator = "";
    for (Map.Entry<String, Integer> one : digits.entrySet()) {
      json.append(separator);
      quote(json, one.getKey());
      json.append(':').append(one.getValue());
      separator = ",";
    }
    json.append("},\"columns\":{").append(columns).append("}}");
    return Tag.of("script").with("type", "application/json").with("id", id).raw(json.toString());
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
