package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.command.shared.FormatOption;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.money.closing.Statement;
import dev.nexa.slurm.money.closing.Statements;
import java.time.YearMonth;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code costs statement}. */
final class StatementCommand extends Subcommand {
  private final PositionalParamSpec month =
      optionalParameter(
          "MONTH", "A closed month, such as 2025-11 or `last`; the newest one if not given.");
  private final OptionSpec by =
      option("--by NAME", "Only this part: " + String.join(", ", StatementText.PARTS) + ".");
  private final FormatOption format =
      new FormatOption(this, List.of("table", "json", "csv", "markdown"));

  StatementCommand() {
    super(
        "statement",
        "Shows the statement of a closed month. CSV has a row for each run and adjustment.",
        "nexa-slurm costs statement",
        "nexa-slurm costs statement 2025-11 --by project",
        "nexa-slurm costs statement 2025-11 --format csv > november.csv");
  }

  @Override
  protected void work() {
    format.format();
    Optional<String> part = value(by);
    if (part.isPresent() && !StatementText.PARTS.contains(part.get())) {
      throw FormatOption.notOneOf("--by", StatementText.PARTS, part.get());
    }
    Statements.Closed closed = closed(new Statements(existing().workspace()));
    Statement statement = closed.statement();
    if (part.isPresent()) {
      String name = part.get();
      format.print(
          () -> StatementText.forPeople(statement, name).table(style()),
          () -> StatementText.part(statement, name),
          statement::json);
      return;
    }
    format.print(
        () -> StatementText.tables(statement, style()) + signed(closed),
        () -> StatementText.postings(statement),
        () -> StatementText.markdown(statement) + "\n" + signed(closed),
        statement::json);
  }

  private static String signed(Statements.Closed closed) {
    String by = closed.signature().signer() + " at " + closed.signature().at();
    return "%s was closed by %s; SHA-256 %s\n"
        .formatted(closed.statement().month(), by, closed.sha256());
  }

  private Statements.Closed closed(Statements statements) {
    SortedSet<YearMonth> closed = statements.closed();
    String typed = month.getValue();
    if (typed == null && !closed.isEmpty()) {
      return statements.read(closed.last());
    }
    YearMonth wanted = typed == null ? null : CloseCommand.monthOf(typed, "statement");
    if (wanted != null && closed.contains(wanted)) {
      return statements.read(wanted);
    }
    String others =
        closed.isEmpty() ? "" : "; closed are " + closed.first() + " to " + closed.last();
    throw ErrorCode.MONTH_NOT_CLOSABLE.error(
        wanted == null ? "no month is closed" : wanted + " is not closed" + others,
        Advice.command(
            "closes it", "nexa-slurm", "costs", "close", wanted == null ? "last" : "" + wanted),
        Advice.step("`nexa-slurm costs --month MONTH` shows a month that is not closed"));
  }
}
