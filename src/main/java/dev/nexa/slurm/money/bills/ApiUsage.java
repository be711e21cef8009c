package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.text.Csv;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PriceBook.TokenPrice;
import dev.nexa.slurm.records.runs.RunId;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Reads the tokens that runs sent to and received from an API, such as a teacher model's. The input
 * has one JSON object a line with {@code run_id}, {@code model}, {@code input_tokens}, {@code
 * output_tokens} and {@code time}.
 *
 * <p>Tokens are priced at import and keep that price.
 */
public final class ApiUsage {
  private static final int MILLION_DIGITS = 6;

  private ApiUsage() {}

  /**
   * Returns one row for each direction (input, output) of a line that has tokens.
   *
   * @param name the file's name for messages
   * @param text the file's text
   * @param book the price book whose {@code api_tokens} give the prices
   * @throws dev.nexa.slurm.base.error.NexaException if a line is malformed, or the book has no
   *     price for its model
   */
  public static List<BillRow> read(String name, String text, PriceBook book) {
    List<BillRow> rows = new ArrayList<>();
    Map<String, Integer> seen = new HashMap<>();
    for (Csv.Row line : BillReader.jsonRows(name, text)) {
      String digest = Sha256.of(new TreeMap<>(line.values()).toString()).substring(0, 32);
      String id = BillReader.numbered(digest, seen);
      String model = text(name, line, "model");
      TokenPrice price = book.prices().apiTokens().get(model);
      if (price == null) {
        Set<String> models = book.prices().apiTokens().keySet();
        throw BillReader.wrong(
            name,
            line.line(),
            "model: price book '%s' has no api_tokens of '%s'%s%s"
                .formatted(
                    book.name(),
                    model,
                    Nearest.product(model, models),
                    models.isEmpty()
                        ? ""
                        : "; it has " + String.join(", ", new TreeSet<>(models))));
      }
      add(rows, name, line, id, "input", price.input(), book.currency());
      add(rows, name, line, id, "output", price.output(), book.currency());
    }
    return rows;
  }

  private static void add(
      List<BillRow> rows,
      String name,
      Csv.Row line,
      String id,
      String direction,
      Price price,
      String currency) {
    BigDecimal tokens = tokens(name, line, direction + "_tokens");
    if (tokens.signum() == 0) {
      return;
    }
    String run = text(name, line, "run_id");
    if (RunId.parse(run).isEmpty()) {
      throw BillReader.wrong(
          name,
          line.line(),
          "run_id: expected one such as train_20251101_143200, got '" + run + "'");
    }
    rows.add(
        new BillRow(
            id + "-" + direction,
            run,
            BillRow.API,
            time(name, line),
            text(name, line, "model") + " " + direction,
            price.price().multiply(tokens).movePointLeft(MILLION_DIGITS).stripTrailingZeros(),
            currency,
            false,
            Optional.of(tokens),
            Optional.of(price.price().toPlainString() + " for 10^6 (" + price.source() + ")")));
  }

  private static String text(String name, Csv.Row line, String key) {
    String value = line.values().get(key);
    if (value == null || value.isEmpty()) {
      throw BillReader.wrong(
          name,
          line.line(),
          key + ": missing" + Nearest.hint(key, line.values().keySet()) + "; expected a value");
    }
    return value;
  }

  private static String time(String name, Csv.Row line) {
    String time = text(name, line, "time");
    try {
      return Instant.parse(time).toString();
    } catch (DateTimeException notATime) {
      throw BillReader.wrong(
          name, line.line(), "time: expected one such as 2025-11-01T14:32:00Z, got '" + time + "'");
    }
  }

  private static BigDecimal tokens(String name, Csv.Row line, String key) {
    String value = text(name, line, key);
    if (!value.matches("\\d{1,15}")) {
      throw BillReader.wrong(
          name, line.line(), key + ": expected a count of tokens, got '" + value + "'");
    }
    return new BigDecimal(value);
  }
}
