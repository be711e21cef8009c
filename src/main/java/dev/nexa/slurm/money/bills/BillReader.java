package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Csv;
import dev.nexa.slurm.records.runs.RunId;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads a bill from CSV or from one JSON object a line.
 *
 * @param name the file's name for messages
 * @param format the bill's columns
 * @param provider the provider's name
 * @param currency the currency of rows that do not name one
 * @param label the label or tag whose value is the run's id
 */
public record BillReader(
    String name, BillFormat format, String provider, Optional<String> currency, String label) {
  private static final Pattern DAY =
      Pattern.compile("\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])([ T].{0,40})?");

  /** A heading of several columns without a comma. */
  private static final Pattern SEPARATOR = Pattern.compile("[^,]*?([;\t|])[^,]*");

  private static final Pattern CURRENCY = Pattern.compile("[A-Z]{3}");

  /**
   * Returns the rows, in the file's order.
   *
   * @throws NexaException if a row is malformed; no row is imported then
   */
  public List<BillRow> read(String text) {
    boolean json = text.stripLeading().startsWith("{");
    List<BillRow> rows = new ArrayList<>();
    Map<String, Integer> seen = new HashMap<>();
    for (Csv.Row row : json ? jsonRows(name, text) : csvRows(text)) {
      rows.add(row(row, seen));
    }
    return rows;
  }

  private List<Csv.Row> csvRows(String text) {
    requireCommas(text);
    List<Csv.Row> rows = Csv.rows(name, text);
    if (!rows.isEmpty()) {
      List<String> has = List.copyOf(rows.get(0).values().keySet());
      format.require(name, has, currency.isPresent());
    }
    return rows;
  }

  private void requireCommas(String text) {
    Matcher separator = SEPARATOR.matcher(text.lines().findFirst().orElse(""));
    if (separator.matches()) {
      String found = separator.group(1).equals("\t") ? "tabs" : "'" + separator.group(1) + "'";
      throw ErrorCode.BILL_UNREADABLE.error(
          name + ":1: the columns are separated by " + found + "; expected commas",
          "save the file as CSV with commas, and write amounts as 12.34, not 12,34");
    }
  }

  /** Returns the place that is searched for the run's id, such as {@code the column 'RunId'}. */
  public String runPlace() {
    Optional<String> tags = format.column("tags");
    return tags.isPresent() && format.column("run").isEmpty()
        ? "the label '" + label + "' in the column '" + tags.get() + "'"
        : "the column '" + format.column("run").orElse(label) + "'";
  }

  /**
   * Reads one JSON object a line. A nested member gets a name such as {@code service.description}.
   */
  static List<Csv.Row> jsonRows(String name, String text) {
    List<Csv.Row> rows = new ArrayList<>();
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      if (!line.isBlank()) {
        try {
          Map<String, String> values = new HashMap<>();
          flatten("", Json.parseObject(line), values);
          rows.add(new Csv.Row(number, values));
        } catch (IllegalArgumentException broken) {
          throw wrong(
              name,
              number,
              line.startsWith("{")
                  ? String.valueOf(broken.getMessage())
                  : "expected one JSON object a line, such as {\"run_id\": …}; for a CSV file type:"
                      + " nexa-slurm costs import csv FILE --provider NAME");
        }
      }
    }
    return rows;
  }

  private static void flatten(String prefix, JsonObject object, Map<String, String> values) {
    for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
      Object value = member.getValue();
      String path = prefix + member.getKey();
      if (value instanceof JsonObject below) {
        values.put(path, Json.compact(below));
        flatten(path + ".", below, values);
      } else if (value != null) {
        values.put(path, value instanceof String word ? word : Json.compact(value));
      }
    }
  }

  private BillRow row(Csv.Row row, Map<String, Integer> seen) {
    String start = value(row, "start");
    if (!DAY.matcher(start).matches()) {
      throw wrong(
          name, row.line(), "start: expected a day such as 2025-11-01, got '" + start + "'");
    }
    String money = format.column("currency").isPresent() ? value(row, "currency") : "";
    String code = money.isEmpty() ? currency.orElse("") : money;
    if (!CURRENCY.matcher(code).matches()) {
      throw wrong(
          name, row.line(), "currency: expected an ISO 4217 code such as USD, got '" + code + "'");
    }
    BigDecimal amount = amount(row, value(row, "amount")).add(credits(row));
    return new BillRow(
        id(row, seen),
        runId(row),
        provider,
        start,
        value(row, "what"),
        amount,
        code,
        false,
        Optional.empty(),
        Optional.empty());
  }

  private String value(Csv.Row row, String what) {
    return format.column(what).map(column -> row.values().get(column)).orElse("").strip();
  }

  private BigDecimal amount(Csv.Row row, String text) {
    String wrong = "amount: expected a number such as 12.50, got '" + text + "'";
    return amount(text).orElseThrow(() -> wrong(name, row.line(), wrong));
  }

  /** Returns an amount; empty if it is no number, or has more digits than any bill. */
  public static Optional<BigDecimal> amount(String text) {
    try {
      return Optional.of(new BigDecimal(text))
          .filter(amount -> Math.abs((long) amount.scale()) <= 40 && amount.precision() <= 60);
    } catch (NumberFormatException notANumber) {
      return Optional.empty();
    }
  }

  /** Returns the sum of the credits, which are negative. */
  private BigDecimal credits(Csv.Row row) {
    String list = value(row, "credits");
    BigDecimal sum = BigDecimal.ZERO;
    if (list.startsWith("[")) {
      for (JsonObject credit : objects(row, list)) {
        sum = sum.add(amount(row, String.valueOf(credit.members().get("amount"))));
      }
    } else if (!list.isEmpty()) {
      sum = amount(row, list);
    }
    return sum;
  }

  private List<JsonObject> objects(Csv.Row row, String list) {
    try {
      return Json.parseObject("{\"list\":" + list + "}").objects("list");
    } catch (IllegalArgumentException broken) {
      throw wrong(name, row.line(), "expected a list of objects, got '" + list + "'");
    }
  }

  /** Returns the run's id; empty if the row names none. */
  private String runId(Csv.Row row) {
    String named = value(row, "run");
    String tags = value(row, "tags");
    if (named.isEmpty() && tags.startsWith("[")) {
      for (JsonObject tag : objects(row, tags)) {
        if (tag.optionalText("key").orElse("").equals(label)) {
          named = tag.optionalText("value").orElse("");
        }
      }
    } else if (named.isEmpty() && tags.startsWith("{")) {
      try {
        named = Json.parseObject(tags).members().get(label) instanceof String word ? word : "";
      } catch (IllegalArgumentException broken) {
        throw wrong(name, row.line(), "tags: expected an object of JSON, got '" + tags + "'");
      }
    } else if (named.isEmpty()) {
      named = row.values().getOrDefault(label, "");
    }
    return RunId.parse(named).map(RunId::value).orElse("");
  }

  /**
   * Returns the row's own id, or a digest of the row. A number makes the ids of equal rows differ.
   */
  private String id(Csv.Row row, Map<String, Integer> seen) {
    String own = value(row, "id");
    if (!own.isEmpty()) {
      return own;
    }
    JsonObject all = new JsonObject();
    row.values().keySet().stream().sorted().forEach(key -> all.with(key, row.values().get(key)));
    return numbered(Sha256.of(Json.compact(all)).substring(0, 32), seen);
  }

  static String numbered(String digest, Map<String, Integer> seen) {
    int before = seen.merge(digest, 1, Integer::sum) - 1;
    return before == 0 ? digest : digest + "-" + before;
  }

  static NexaException wrong(String name, int line, String message) {
    return ErrorCode.BILL_UNREADABLE.error(
        name + ":" + line + ": " + message, "nothing of the file was imported");
  }
}
