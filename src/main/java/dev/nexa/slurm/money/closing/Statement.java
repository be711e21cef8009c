package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.error.Arguments;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.text.Columns;
import java.math.BigDecimal;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * {@code runs/statements/YYYY-MM.json}: the costs of a month's runs, and the adjustments of months
 * that were closed before. It holds no time and no name of the person who closes, so that the same
 * files give the same bytes. No other class knows its keys.
 *
 * @param begin the first month that was ever closed; earlier months are not in the books
 * @param previous the SHA-256 of the statement of the month before; empty for the first month
 * @param runs a posting for each run that ended in the month, and for each of its currencies
 * @param adjustments amounts of runs that belong to closed months
 * @param unmatched billed amounts that belong to no run, by currency, minus the amounts that
 *     earlier statements have
 * @param unfinished runs that had not ended when the month was closed
 */
public record Statement(
    YearMonth month,
    YearMonth begin,
    Optional<String> previous,
    List<Posting> runs,
    List<Posting> adjustments,
    List<BudgetShare> budgets,
    List<Capacity> capacity,
    Map<String, BigDecimal> unmatched,
    List<Unfinished> unfinished) {
  /** The names of {@link #by}. */
  public static final List<String> GROUPS = List.of("project", "user", "account");

  private static final int NEWEST = 1;
  private static final String TYPE = "nexa-slurm statement";

  /** The columns of unfinished runs. */
  public static final Columns<Unfinished> UNFINISHED =
      new Columns<Unfinished>()
          .text("run_id", Unfinished::runId)
          .text("user", run -> run.user().orElse(null));

  /**
   * A run that had not ended.
   *
   * @param user empty if it is unknown
   */
  public record Unfinished(String runId, Optional<String> user) {}

  /** Returns the postings of both kinds. */
  public List<Posting> postings() {
    return Stream.concat(runs.stream(), adjustments.stream()).toList();
  }

  /** Returns the totals, one for each currency. */
  public List<Sum> totals() {
    return Sum.of(postings(), posting -> Optional.empty());
  }

  /**
   * Returns the sums of a kind of groups.
   *
   * @param group a word of {@link #GROUPS}
   */
  public List<Sum> by(String group) {
    return Sum.of(postings(), posting -> posting.payer().name(group));
  }

  /** Returns the amount that the month took from each budget. */
  public List<BudgetShare> shares() {
    List<Posting> postings = postings();
    return budgets.stream().map(budget -> budget.of(postings)).toList();
  }

  /** Returns the unused capacity. */
  public List<Capacity> idle() {
    return capacity.stream().map(row -> row.in(month, postings())).toList();
  }

  /** Returns the postings whose cost file lacks something. */
  public List<Posting> lacking() {
    return postings().stream().filter(posting -> !posting.proof().lacks().isEmpty()).toList();
  }

  /** Returns the document. */
  public JsonObject json() {
    JsonObject json =
        new JsonObject()
            .with(SchemaVersion.KEY, NEWEST)
            .with("type", TYPE)
            .with("month", month.toString())
            .with("books_begin", begin.toString())
            .with("previous_sha256", previous.orElse(null))
            .with("totals", Sum.TOTAL.of(totals()).json());
    for (String group : GROUPS) {
      json = json.with(group + "s", Sum.columns(group).of(by(group)).json());
    }
    List<JsonObject> rest = new ArrayList<>();
    unmatched.forEach(
        (currency, amount) ->
            rest.add(
                new JsonObject()
                    .with("currency", currency)
                    .with("amount", amount.toPlainString())));
    return json.with("budgets", BudgetShare.COLUMNS.of(shares()).json())
        .with("capacity", Capacity.COLUMNS.of(idle()).json())
        .with("unmatched_bills", rest)
        .with("unfinished", UNFINISHED.of(unfinished).json())
        .with("runs", Posting.COLUMNS.of(runs).json())
        .with("adjustments", Posting.COLUMNS.of(adjustments).json());
  }

  /** Returns the file's text. */
  public String text() {
    return Json.pretty(json());
  }

  /**
   * Reads a file's text. All sums are added up again.
   *
   * @param file the file's name for messages
   * @throws IllegalArgumentException if the text is not as {@link #text} returns it
   */
  public static Statement parse(String text, String file) {
    JsonObject json = SchemaVersion.parse(text, file, NEWEST);
    Arguments.require(json.text("type").equals(TYPE), "it is a document of another type");
    Map<String, BigDecimal> unmatched = new TreeMap<>();
    for (JsonObject row : json.objects("unmatched_bills")) {
      unmatched.put(row.text("currency"), new BigDecimal(row.text("amount")));
    }
    Statement statement =
        new Statement(
            YearMonth.parse(json.text("month")),
            YearMonth.parse(json.text("books_begin")),
            json.optionalText("previous_sha256"),
            json.objects("runs").stream().map(Posting::of).toList(),
            json.objects("adjustments").stream().map(Posting::of).toList(),
            json.objects("budgets").stream().map(BudgetShare::of).toList(),
            json.objects("capacity").stream().map(Capacity::of).toList(),
            unmatched,
            json.objects("unfinished").stream()
                .map(run -> new Unfinished(run.text("run_id"), run.optionalText("user")))
                .toList());
    Arguments.require(
        statement.text().equals(text),
        "it is not as nexa-slurm writes it: its sums do not follow from its runs, or its form was"
            + " changed");
    return statement;
  }
}
