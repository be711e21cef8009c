package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Listing;
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
public final class SumOptions {
  private final String usualBy;
  private final OptionSpec by;
  private final OptionSpec where;
  private final OptionSpec month;
  private final FormatOption format;

  /**
   * Adds the options to a command.
   *
   * @param usualBy the default of {@code --by}
   * @param formats the formats that the command can print
   */
  public SumOptions(Subcommand command, String usualBy, List<String> formats) {
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
    format = new FormatOption(command, formats);
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
    swallowed(text, Stdout.file(), Path.of("").toAbsolutePath())
        .ifPresent(
            whole -> {
              Path made = Stdout.file().orElse(Path.of("")).getFileName();
              throw ErrorCode.OPTION_INVALID.error(
                  "--where: the shell took > and the rest of '%s', and made the file %s"
                      .formatted(whole, made),
                  Advice.step("put the expression into single quotes: --where '" + whole + "'"),
                  Advice.command("removes that file", "rm", "./" + made));
            });
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

  /** Returns the months that the options ask for; empty if they ask for no certain ones. */
  public Optional<MonthRange> months() {
    return meant().months();
  }

  /**
   * Returns the sentence for an empty table.
   *
   * @param kind what the table lists, such as {@code finished run}
   * @param none counts the existing runs; called only if a filter was typed
   * @param usual the sentence for a workspace without runs
   */
  public static String nothing(
      OptionSpec where, String kind, Supplier<NoMatch> none, String usual) {
    return nothing(where.getValue() != null, kind, none, usual);
  }

  private static String nothing(
      boolean filtered, String kind, Supplier<NoMatch> none, String usual) {
    NoMatch there = filtered ? none.get() : null;
    return there == null || there.runs() == 0 ? usual : there.text(kind);
  }

  /** Returns the sentence for an empty table of this command. */
  public String nothing(String kind, Supplier<NoMatch> none, String usual) {
    String sentence =
        nothing(where.getValue() != null || month.getValue() != null, kind, none, usual);
    Optional<MonthRange> typed = month.getValue() == null ? Optional.empty() : months();
    return sentence + typed.map(months -> notBegun(months, Instant.now())).orElse("");
  }

  /** Returns a line that says that no month has begun in UTC; empty if one has. */
  static String notBegun(MonthRange months, Instant now) {
    YearMonth current = YearMonth.from(now.atOffset(ZoneOffset.UTC));
    return months.first().isAfter(current)
        ? "  " + months + " has not begun yet: the current month is " + current + ", in UTC.\n"
        : "";
  }

  /**
   * Returns the requested format; {@code table} if none was typed.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if there is no such format, or {@code --json}
   *     contradicts it
   */
  public String format() {
    return format.format();
  }

  /**
   * Prints the result in the requested format.
   *
   * @param people makes the table of {@link Subcommand#style}
   * @param programs makes the rows for CSV and Markdown
   * @param document makes the JSON document
   */
  public void print(
      Supplier<String> people, Supplier<Listing<?>> programs, Supplier<JsonObject> document) {
    print(people, programs, () -> programs.get().markdown(), document);
  }

  /**
   * Prints the result in the requested format.
   *
   * @param people makes the table
   * @param programs makes the rows for CSV
   * @param markdown makes the Markdown
   * @param document makes the JSON document
   */
  public void print(
      Supplier<String> people,
      Supplier<Listing<?>> programs,
      Supplier<String> markdown,
      Supplier<JsonObject> document) {
    format.print(people, programs, markdown, document);
  }
}
