package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.money.closing.BudgetShare;
import dev.nexa.slurm.money.closing.Capacity;
import dev.nexa.slurm.money.closing.Posting;
import dev.nexa.slurm.money.closing.Statement;
import dev.nexa.slurm.money.closing.Statements.Closed;
import dev.nexa.slurm.money.closing.Sum;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Formats statements of months as tables, CSV and Markdown. */
final class StatementText {
  /** The parts of a statement that can be asked for alone. */
  static final List<String> PARTS =
      List.of("project", "user", "account", "budget", "capacity", "run", "adjustment");

  private static final Columns<Closed> CLOSED =
      new Columns<Closed>()
          .text("month", closed -> closed.statement().month().toString())
          // A run with a bill in another currency has two postings.
          .number(
              "runs",
              closed -> closed.statement().runs().stream().map(Posting::runId).distinct().count())
          .number("adjustments", closed -> closed.statement().adjustments().size())
          .text("total", closed -> totals(closed.statement()))
          .right()
          .text("closed_at", closed -> closed.signature().at().toString())
          .text("signer", closed -> closed.signature().signer())
          .text("sha256", Closed::sha256);

  private StatementText() {}

  private static String totals(Statement statement) {
    return statement.totals().stream()
        .map(total -> total.amounts().total().toPlainString() + " " + total.currency())
        .collect(Collectors.joining(", "));
  }

  /** Returns a row for each closed month, for people: without the digest. */
  static Listing<Closed> closedForPeople(List<Closed> months) {
    return CLOSED.select("month", "runs", "adjustments", "total", "closed_at", "signer").of(months);
  }

  /**
   * Returns the rows of a part, with every column.
   *
   * @param part a word of {@link #PARTS}
   */
  static Listing<?> part(Statement statement, String part) {
    return switch (part) {
      case "budget" -> BudgetShare.COLUMNS.of(statement.shares());
      case "capacity" -> Capacity.COLUMNS.of(statement.idle());
      case "run" -> Posting.COLUMNS.of(statement.runs());
      case "adjustment" -> Posting.COLUMNS.of(statement.adjustments());
      default -> Sum.columns(part).of(statement.by(part));
    };
  }

  /** Returns the rows of all runs and adjustments, with every column. */
  static Listing<?> postings(Statement statement) {
    return Posting.COLUMNS.of(statement.postings());
  }

  /** Returns the rows of a part for people: without digests, and without columns of zeros. */
  static Listing<?> forPeople(Statement statement, String part) {
    Columns<Posting> columns =
        Posting.COLUMNS.select(
            "run_id", "project", "user", "account", "currency", "cost", "credit", "api", "total");
    return switch (part) {
      case "budget", "capacity" -> part(statement, part);
      case "run" -> columns.of(statement.runs()).withoutRare();
      case "adjustment" ->
          Posting.COLUMNS
              .select(
                  "run_id reason month version project user account currency total billed"
                      .split(" ", -1))
              .of(statement.adjustments())
              .withoutRare();
      default -> Sum.columns(part).of(statement.by(part)).withoutRare();
    };
  }

  /** Returns the parts that hold something, by their headings. */
  private static Map<String, Listing<?>> parts(Statement statement) {
    Map<String, Listing<?>> parts = new LinkedHashMap<>();
    parts.put("Total", Sum.TOTAL.of(statement.totals()).withoutRare());
    Statement.GROUPS.forEach(group -> parts.put("By " + group, forPeople(statement, group)));
    if (!statement.budgets().isEmpty()) {
      parts.put("Budgets", forPeople(statement, "budget"));
    }
    if (!statement.capacity().isEmpty()) {
      parts.put("GPUs that nobody used", forPeople(statement, "capacity"));
    }
    parts.put("Runs", forPeople(statement, "run"));
    if (!statement.adjustments().isEmpty()) {
      parts.put("Adjustments of closed months", forPeople(statement, "adjustment"));
    }
    return parts;
  }

  /** Returns the whole statement as tables under headings. */
  static String tables(Statement statement, TableStyle style) {
    StringBuilder text = new StringBuilder();
    parts(statement)
        .forEach((heading, rows) -> text.append(heading + "\n" + rows.table(style) + "\n"));
    return text + notes(statement);
  }

  /** Returns the whole statement as Markdown. */
  static String markdown(Statement statement) {
    StringBuilder text = new StringBuilder("# Statement of " + statement.month() + "\n");
    parts(statement)
        .forEach((heading, rows) -> text.append("\n## " + heading + "\n\n" + rows.markdown()));
    String notes = notes(statement);
    return text + (notes.isEmpty() ? "" : "\n" + notes);
  }

  /** Returns a line for each run that is unfinished or lacks something, and for unmatched bills. */
  static String notes(Statement statement) {
    StringBuilder text = new StringBuilder();
    for (Posting posting : statement.lacking()) {
      posting.proof().lacks().forEach(lack -> text.append(posting.runId() + ": " + lack + "\n"));
    }
    for (Statement.Unfinished run : statement.unfinished()) {
      text.append(run.runId() + " is unfinished: it counts in the month in which it ends\n");
    }
    statement
        .unmatched()
        .forEach(
            (currency, amount) ->
                text.append(amount.toPlainString() + " " + currency)
                    .append(" of the imported bills belong to no run\n"));
    return text.toString();
  }

  /** Returns the JSON document of closed months. */
  static JsonObject json(List<Closed> months) {
    return JsonObject.ofVersion(1).with("closed", CLOSED.of(months).json());
  }
}
