package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.money.summary.GroupBy;
import dev.nexa.slurm.money.summary.NoMatch;
import dev.nexa.slurm.money.summary.RunFilter;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Model.OptionSpec;

/** The options that commands on finished runs share: the filter, the groups and the format. */
public final class SumOptions {
  private final Subcommand command;
  private final List<String> formats;
  private final String usualBy;
  private final OptionSpec by;
  private final OptionSpec where;
  private final OptionSpec month;
  private final OptionSpec format;
  private final OptionSpec json;

  /**
   * Adds the options to a command.
   *
   * @param usualBy the default of {@code --by}
   * @param formats the formats that the command can print
   */
  public SumOptions(Subcommand command, String usualBy, List<String> formats) {
    this.command = command;
    this.usualBy = usualBy;
    this.formats = formats;
    by =
        command.option(
            "--by",
            "NAMES",
            "Groups the runs by user, account, project, model, stage, tag, tag:PREFIX, month and more;"
                + " separate several by commas; "
                + usualBy
                + " if not given.");
    where = where(command);
    month =
        command.option(
            "--month",
            "MONTH",
            "Only the runs that ended in this month: `last`, `this`, or one such as 2025-11, in UTC.");
    format = command.option("--format", "FORMAT", "One of " + String.join(", ", formats) + ".");
    json = command.jsonFlag();
  }

  /** Adds the option {@code --where} to a command. */
  public static OptionSpec where(Subcommand command) {
    return command.option(
        "--where",
        "EXPR",
        "Only these runs: 'status=failed cost>10 created>=7d tag=team:nlp'; days are in UTC.");
  }

  /** Returns the filter; accepts all runs if the option was not typed. */
  public static RunFilter meant(OptionSpec where) {
    String text = where.getValue();
    return text == null ? RunFilter.all() : RunFilter.parse(text, Instant.now());
  }

  /** Returns the groups. */
  public GroupBy by() {
    String text = by.getValue();
    return GroupBy.parse(text == null ? usualBy : text);
  }

  /** Returns the filter of both options; accepts all runs if none was typed. */
  public RunFilter meant() {
    RunFilter terms = meant(where);
    String typed = month.getValue();
    return typed == null ? terms : terms.and(RunFilter.ofMonth(typed, Instant.now()));
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
    return nothing(where.getValue() != null || month.getValue() != null, kind, none, usual);
  }

  /** Returns the requested format; {@code table} if none was typed. */
  public String format() {
    String text = format.getValue();
    String named = text == null ? "table" : text;
    if (!formats.contains(named)) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--format: expected one of "
              + String.join(", ", formats)
              + ", got '"
              + named
              + "'"
              + Nearest.hint(named, formats));
    }
    return Subcommand.given(json) ? "json" : named;
  }

  /**
   * Prints the result in the requested format.
   *
   * @param people makes the table
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
    String text =
        switch (format()) {
          case "json" -> Json.pretty(document.get());
          case "csv" -> programs.get().csv();
          case "markdown" -> markdown.get();
          default -> people.get();
        };
    command.out().print(text);
  }
}
