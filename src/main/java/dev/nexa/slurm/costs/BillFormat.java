package dev.nexa.slurm.costs;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * In which columns of a bill what stands.
 *
 * @param columns by what we read of a row: run, amount, currency, start, what, id, tags, credits
 */
public record BillFormat(Map<String, String> columns) {
  /** What {@code --map} can name; run, or tags and a label in it, tell the run. */
  private static final List<String> NAMES =
      List.of("run", "tags", "amount", "credits", "currency", "start", "what", "id");

  /** Nothing is known of the columns. */
  public static final BillFormat PLAIN = new BillFormat(Map.of());

  /**
   * Google Cloud's detailed billing export, as `bq extract` or a query writes it; its columns are
   * named in "Structure of Detailed data export" of the Cloud Billing documentation. What was paid
   * is cost and the (negative) credits.
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

  /** FOCUS 1.2, whoever wrote it. */
  public static final BillFormat FOCUS =
      new BillFormat(
          Map.of(
              "tags", "Tags",
              "amount", "BilledCost",
              "currency", "BillingCurrency",
              "start", "ChargePeriodStart",
              "what", "ServiceName"));

  /** The same with {@code NAME=COLUMN} of the command line. */
  public BillFormat with(List<String> maps) {
    Map<String, String> all = new LinkedHashMap<>(columns);
    for (String map : maps) {
      int equals = map.indexOf('=');
      String name = equals < 0 ? map : map.substring(0, equals);
      if (equals < 0 || !NAMES.contains(name) || equals + 1 == map.length()) {
        throw new NexaException(
            ExitCode.USAGE,
            "--map: expected NAME=COLUMN, got '" + map + "'" + Nearest.hint(name, NAMES),
            "NAME is one of " + String.join(", ", NAMES));
      }
      all.put(name, map.substring(equals + 1));
    }
    return new BillFormat(all);
  }

  /** The column of it, where one is known. */
  Optional<String> column(String name) {
    return Optional.ofNullable(columns.get(name));
  }

  /**
   * Refuses a file without a column that is needed.
   *
   * @param has the file's columns
   */
  void require(String file, List<String> has, boolean currencyGiven) {
    List<String> needed = new ArrayList<>(Arrays.asList("amount", "start"));
    if (!currencyGiven) {
      needed.add("currency");
    }
    for (String name : needed) {
      if (column(name).isEmpty()) {
        throw new NexaException(
            ExitCode.USAGE,
            file + ": which column is the " + name + "? It has " + String.join(", ", has),
            "--map " + name + "=COLUMN" + (name.equals("currency") ? ", or --currency USD" : ""));
      }
    }
    for (Map.Entry<String, String> column : columns.entrySet()) {
      boolean optional = !needed.contains(column.getKey()) && !column.getKey().equals("run");
      if (!optional && !has.contains(column.getValue())) {
        throw new NexaException(
            ExitCode.USAGE,
            file
                + ": there is no column '"
                + column.getValue()
                + "'"
                + Nearest.hint(column.getValue(), has)
                + "; it has "
                + String.join(", ", has),
            "--map " + column.getKey() + "=COLUMN");
      }
    }
  }
}
