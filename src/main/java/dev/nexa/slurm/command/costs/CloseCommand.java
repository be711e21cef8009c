package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.units.MonthRange;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.money.closing.Statement;
import dev.nexa.slurm.money.closing.Statements;
import dev.nexa.slurm.money.closing.VerifyMonths;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code costs close}. */
final class CloseCommand extends Subcommand {
  private static final Columns<VerifyMonths.Finding> FINDINGS =
      new Columns<VerifyMonths.Finding>()
          .text("month", finding -> finding.month().toString())
          .text("file", VerifyMonths.Finding::file)
          .note("what", VerifyMonths.Finding::what);

  private final PositionalParamSpec month =
      optionalParameter("MONTH", "A month that is over, such as 2025-11, or `last`.");
  private final OptionSpec key =
      option("--key FILE", "Your SSH key. Default: the first of ssh's own keys.");
  private final OptionSpec as =
      option("--as PRINCIPAL", "Your name in allowed_signers, if the key has several.");
  private final OptionSpec dryRun =
      flag("--dry-run", "Shows what would be signed; writes nothing, and needs no key.");
  private final OptionSpec yes =
      flag("-y, --yes", "Signs without a question. Without a terminal, no question is asked.");
  private final OptionSpec list = flag("--list", "Lists the closed months.");
  private final OptionSpec verify =
      flag(
          "--verify",
          "Checks MONTH, or all closed months: statements, signatures, cost files and ledger; exit"
              + " status 1 if something was changed.");
  private final OptionSpec json = jsonFlag();

  CloseCommand() {
    super(
        "close",
        "Closes a month with a signed statement. Later corrections become adjustments of the next.",
        "nexa-slurm costs close last --dry-run",
        "nexa-slurm costs close 2025-11 --key ~/.ssh/id_ed25519",
        "nexa-slurm costs close --verify",
        "nexa-slurm costs close --list");
  }

  @Override
  public Integer call() {
    Context context = existing();
    if (given(list) && given(verify)) {
      throw conflict("--list and --verify are two commands", "leave one of them out");
    }
    Statements statements = new Statements(context.workspace());
    return given(list)
        ? list(statements)
        : given(verify)
            ? verify(context, statements)
            : close(context, statements, wanted(statements));
  }

  /** Returns the typed month. */
  private YearMonth wanted(Statements statements) {
    String typed = month.getValue();
    if (typed == null) {
      String next = statements.next().map(YearMonth::toString).orElse("last");
      throw ErrorCode.ARGUMENT_MISSING.error(
          "expected the month to close, such as 2025-11 or last",
          Advice.command("closes it", "nexa-slurm", "costs", "close", next));
    }
    return monthOf(typed, "close");
  }

  /**
   * Reads a month that a user typed.
   *
   * @param command the subcommand of costs, for the advice
   */
  static YearMonth monthOf(String typed, String command) {
    return MonthRange.month(typed, Instant.now())
        .orElseThrow(
            () ->
                invalid(
                    "expected a month such as 2025-11, or last, got '" + typed + "'",
                    "nexa-slurm costs " + command + " last"));
  }

  private Integer close(Context context, Statements statements, YearMonth wanted) {
    if (statements.closed().contains(wanted)) {
      return done(statements, statements.read(wanted), true);
    }
    CloseMonth close = new CloseMonth(context, statements, Instant.now());
    close.requireClosable(wanted);
    if (given(dryRun)) {
      Statement statement = close.statement(wanted);
      print(
          given(json)
              ? statement.text()
              : StatementText.tables(statement, style()) + "nothing was signed\n");
      return ExitCode.OK.status();
    }
    CloseMonth.Signer signer = close.signer(value(key), value(as));
    Optional<Statements.Closed> closed =
        close.close(
            wanted,
            signer,
            statement -> {
              if (!given(json)) {
                print(StatementText.tables(statement, style()));
                out().flush();
              }
              return given(yes) || confirmed("Sign it as " + signer.signer() + "?");
            });
    if (closed.isPresent()) {
      return done(statements, closed.get(), false);
    }
    if (statements.closed().contains(wanted)) {
      return done(statements, statements.read(wanted), true);
    }
    say("nothing was signed");
    return ExitCode.OK.status();
  }

  private Integer done(Statements statements, Statements.Closed closed, boolean before) {
    YearMonth wanted = closed.statement().month();
    String by = closed.signature().signer() + " at " + closed.signature().at();
    String line = (before ? " was closed by " : " is closed by ") + by + ": ";
    return answer(
        json,
        () ->
            StatementText.json(List.of(closed))
                .with("closed_before", before)
                .with("file", statements.file(wanted).toString())
                .with("signature", statements.signature(wanted).toString()),
        () -> {
          say(wanted + line + statements.file(wanted));
          say("  SHA-256 " + closed.sha256());
        });
  }

  private Integer list(Statements statements) {
    List<Statements.Closed> months = statements.closed().stream().map(statements::read).toList();
    if (given(json)) {
      print(StatementText.json(months));
    } else if (months.isEmpty()) {
      say("No month is closed. `nexa-slurm costs close last` closes the last one.");
    } else {
      printTable(StatementText.closedForPeople(months).table(style()));
    }
    return ExitCode.OK.status();
  }

  private Integer verify(Context context, Statements statements) {
    SortedSet<YearMonth> months = new TreeSet<>(statements.closed());
    months.addAll(statements.unsigned());
    String typed = month.getValue();
    if (typed != null) {
      months = new TreeSet<>(List.of(monthOf(typed, "close --verify")));
    }
    PolicyApprovals approvals = PolicyApprovals.of(context, context.configs().policy());
    List<VerifyMonths.Finding> findings =
        new VerifyMonths(context.workspace(), approvals.signers()).of(months);
    if (given(json)) {
      print(
          JsonObject.ofVersion(1)
              .with("months", months.stream().map(YearMonth::toString).toList())
              .with("findings", FINDINGS.of(findings).json()));
    } else {
      for (VerifyMonths.Finding finding : findings) {
        say(finding.file() + ": " + finding.what());
        say(advised("  → " + finding.advice()));
      }
      say(
          findings.isEmpty()
              ? Plural.of(months.size(), "month")
                  + ": each statement, signature, cost file and ledger line is as it was signed"
              : Plural.of(findings.size(), "change") + " found");
    }
    return (findings.isEmpty() ? ExitCode.OK : ExitCode.DEFECT).status();
  }
}
