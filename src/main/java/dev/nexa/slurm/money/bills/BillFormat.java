package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The columns of a bill.
 *
 * @param columns the column of each field; fields are run, tags, amount, credits, currency, start,
 *     what, id
 */
public record BillFormat(Map<String, String> columns) {
  /** Fields that {@code --map} can name. The run's id comes from run, or from a label in tags. */
  private static final List<String> NAMES =
      List.of("run", "tags", "amount", "credits", "currency", "start", "what", "id");

  /** A second item in one {@code --map}. */
  private static final Pattern SECOND_MAP =
      Pattern.compile("[,; ]+(" + String.join("|", NAMES) + ")=");

  /** A format without known columns. */
  public static final BillFormat PLAIN = new BillFormat(Map.of());

  /**
   * Google Cloud's detailed billing export, written by `bq extract` or a query (Cloud Billing
   * documentation, "Structure of Detailed data export"). The amount paid is cost plus credits,
   * which are negative.
   */
  public static final BillFormat GCP =
      new BillFormat(
          Map.of(
              "tags", "labels",
              "amount", "cost",
              "credits", "credits",
              "currency", "currency",
              "start", "usage_start_time",
              "what", "service.description"));

  /** FOCUS 1.2, from any provider. */
  public static final BillFormat FOCUS =
      new BillFormat(
          Map.of(
              "tags", "Tags",
              "amount", "BilledCost",
              "currency", "BillingCurrency",
              "start", "ChargePeriodStart",
              "what", "ServiceName"));

  /**
   * Returns a copy with columns from the command line.
   *
   * @param maps items of the form {@code NAME=COLUMN}
   * @throws NexaException if an item has another form, or an unknown name
   */
  public BillFormat with(List<String> maps) {
    Map<String, String> all = new LinkedHashMap<>(columns);
    for (String map : maps) {
      int equals = map.indexOf('=');
      String name = equals < 0 ? map : map.substring(0, equals);
      if (!NAMES.contains(name)) {
        throw ErrorCode.OPTION_INVALID.error(
            "--map: expected NAME=COLUMN, got '" + map + "'" + Nearest.hint(name, NAMES),
            "NAME is one of " + String.join(", ", NAMES),
            "start is the day, what is the service, and run holds the run's id");
      }
      if (equals < 0 || equals + 1 == map.length()) {
        throw ErrorCode.OPTION_INVALID.error(
            "--map " + map + ": the column is missing; expected " + name + "=COLUMN",
            "--map " + name + "=COLUMN, with a name from the file's first line");
      }
      Matcher second = SECOND_MAP.matcher(map);
      if (second.find()) {
        throw ErrorCode.OPTION_INVALID.error(
            "--map " + map + ": expected one NAME=COLUMN, got several",
            "write --map once for each column: --map " + second.replaceAll(" --map $1="));
      }
      all.put(name, map.substring(equals + 1));
    }
    return new BillFormat(all);
  }

  /** Returns the field's column; empty if the format has none. */
  Optional<String> column(String name) {
    return Optional.ofNullable(columns.get(name));
  }

  /**
   * Throws if a file lacks a needed column: amount, start, currency unless it is given, and each
   * column of the format that must exist.
   *
   * @param has the file's columns
   * @param currencyGiven whether the user has named the currency
   */
  void require(String file, List<String> has, boolean currencyGiven) {
    List<String> needed =
        currencyGiven ? List.of("amount", "start") : List.of("amount", "start", "currency");
    for (String name : needed) {
      if (column(name).isEmpty()) {
        throw ErrorCode.BILL_UNREADABLE.error(
            "%s: which column is the %s%s? It has %s"
                .formatted(
                    file,
                    name,
                    name.equals("start") ? ", the day of the charge" : "",
                    String.join(", ", has)),
            "--map %s=COLUMN%s"
                .formatted(name, name.equals("currency") ? ", or --currency USD" : ""));
      }
    }
    for (Map.Entry<String, String> column : columns.entrySet()) {
      boolean optional = !needed.contains(column.getKey()) && !column.getKey().equals("run");
      if (!optional && !has.contains(column.getValue())) {
        throw ErrorCode.BILL_UNREADABLE.error(
            "%s: there is no column '%s'%s; it has %s"
                .formatted(
                    file,
                    column.getValue(),
                    Nearest.hint(column.getValue(), has),
                    String.join(", ", has)),
            "--map " + column.getKey() + "=COLUMN",
            "a bill in another format: nexa-slurm costs import csv FILE --provider NAME");
      }
    }
  }
}
