package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.units.MonthRange;
import dev.nexa.slurm.money.summary.GroupBy;
import dev.nexa.slurm.money.summary.NoMatch;
import dev.nexa.slurm.money.summary.RunFilter;
import java.nio.file.Path;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine.Model.OptionSpec;

/** The options that commands on finished runs share: the filter, the groups and the format. */
public final class SumOptions extends FormatOption {
  private final String usualBy;
  private final OptionSpec by;
  private final OptionSpec where;
  private final OptionSpec month;

  /**
   * Adds the options to a command.
   *
   * @param usualBy the default of {@code --by}
   * @param formats the formats that the command can print
   */
  public SumOptions(Subcommand command, String usualBy, List<String> formats) {
    super(command, formats);
    this.usualBy = usualBy;
    by =
        command.option(
            "--by NAMES",
            "Groups the runs by user, account, project, model, stage, tag, tag:PREFIX, month and more;"
                + " separate several by commas; "
                + usualBy
                + " if not given.");
    where = where(command);
    month =
        command.option(
            "--month MONTH",
            "Only the runs that ended in this month: `last`, `this`, one such as 2025-11, or several"
                + " such as 2025-09..2025-11, in UTC.");
  }

  /** Adds the option {@code --where} to a command. */
  public static OptionSpec where(Subcommand command) {
    return command.option(
        "--where EXPR",
        "Only these runs: 'status=failed cost>10 created>=7d project=\"my lab\"'; days are in UTC; project=- selects runs without a project.");
  }

  /** Returns the filter; accepts all runs if the option was not typed. */
  public static RunFilter meant(OptionSpec where) {
    String text = where.getValue();
    if (text == null) {
      return RunFilter.all();
    }
    Optional<String> whole = swallowed(text, Stdout.file(), Path.of("").toAbsolutePath());
    if (whole.isPresent()) {
      Path made = Stdout.file().orElseThrow().getFileName();
      throw ErrorCode.OPTION_INVALID.error(
          "--where: the shell took > and the rest of '%s', and made the file %s"
              .formatted(whole.get(), made),
          Advice.step("put the expression into single quotes: --where '" + whole.get() + "'"),
          Advice.command("removes that file", "rm", "./" + made));
    }
    return RunFilter.parse(text, Instant.now());
  }

  /**
   * Returns the expression that the user typed without quotes, as in {@code --where cost>100}: the
   * shell then writes the output to a file {@code 100}. Empty if the text has an operator, or if
   * the file's name is no value.
   *
   * @param file the file that standard output leads to
   * @param here the folder in which the shell makes the file
   */
  static Optional<String> swallowed(String text, Optional<Path> file, Path here) {
    if (file.isEmpty() || !here.equals(file.get().getParent()) || !text.matches("[a-z_]+")) {
      return Optional.empty();
    }
    String name = file.get().getFileName().toString();
    return name.matches("=?[0-9][0-9a-zA-Z:-]*(\\.[0-9]+)?")
        ? Optional.of(text + ">" + name)
        : Optional.empty();
  }

  /** Returns the groups. */
  public GroupBy by() {
    return GroupBy.parse(Subcommand.value(by).orElse(usualBy));
  }

  /** Returns the filter of both options; accepts all runs if none was typed. */
  public RunFilter meant() {
    RunFilter terms = meant(where);
    String typed = month.getValue();
    return typed == null ? terms : terms.and(RunFilter.ofMonths(typed, Instant.now()));
  }

  /**
   * Returns the sentence for a table that a filter has left empty.
   *
   * @param kind what the table lists, such as {@code finished run}
   * @param usual the sentence for a workspace without runs
   */
  public static String nothing(String kind, NoMatch none, String usual) {
    return none.runs() == 0 ? usual : none.text(kind);
  }

  /**
   * Returns the sentence for an empty table of this command.
   *
   * @param kind what the table lists, such as {@code finished run}
   * @param none counts the existing runs; called only if a filter was typed
   * @param usual the sentence for a workspace without runs
   */
  public String nothing(String kind, Supplier<NoMatch> none, String usual) {
    boolean filtered = where.getValue() != null || month.getValue() != null;
    String sentence = filtered ? nothing(kind, none.get(), usual) : usual;
    Optional<MonthRange> typed = month.getValue() == null ? Optional.empty() : meant().months();
    return sentence + typed.map(months -> notBegun(months, Instant.now())).orElse("");
  }

  /** Returns a line that says that no month has begun in UTC; empty if one has. */
  static String notBegun(MonthRange months, Instant now) {
    YearMonth current = YearMonth.from(now.atOffset(ZoneOffset.UTC));
    return months.first().isAfter(current)
        ? "  " + months + " has not begun yet: the current month is " + current + ", in UTC.\n"
        : "";
  }
}
