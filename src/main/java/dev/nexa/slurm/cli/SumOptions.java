package dev.nexa.slurm.cli;

import dev.nexa.slurm.costs.GroupBy;
import dev.nexa.slurm.costs.Where;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.Grid;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Model.OptionSpec;

/** What commands that sum over finished runs have in common: of which runs, by what, and how. */
final class SumOptions {
  private final Subcommand command;
  private final List<String> formats;
  private final String usualBy;
  private final OptionSpec by;
  private final OptionSpec where;
  private final OptionSpec format;
  private final OptionSpec json;

  SumOptions(Subcommand command, String usualBy, List<String> formats) {
    this.command = command;
    this.usualBy = usualBy;
    this.formats = formats;
    by =
        command.option(
            "--by",
            "NAMES",
            "Groups: user, account, project, model, stage, tag, tag:PREFIX, month and more, or"
                + " several with commas; "
                + usualBy
                + " if not given.");
    where = where(command);
    format = command.option("--format", "FORMAT", "One of " + String.join(", ", formats) + ".");
    json = command.flag("--json", "Prints one JSON document.");
  }

  static OptionSpec where(Subcommand command) {
    return command.option(
        "--where",
        "EXPR",
        "Only these runs: 'status=failed cost>10 created>=7d tag=team:nlp'; days are UTC's.");
  }

  /** The runs that are meant; all if nothing was typed. */
  static Where meant(OptionSpec where) {
    String text = where.getValue();
    return text == null ? Where.all() : Where.parse(text, Instant.now());
  }

  GroupBy by() {
    String text = by.getValue();
    return GroupBy.parse(text == null ? usualBy : text);
  }

  Where meant() {
    return meant(where);
  }

  String format() {
    String text = format.getValue();
    String named = text == null ? "table" : text;
    if (!formats.contains(named)) {
      throw new NexaException(
          ExitCode.USAGE,
          "--format: expected one of "
              + String.join(", ", formats)
              + ", got '"
              + named
              + "'"
              + Nearest.hint(named, formats));
    }
    return Subcommand.given(json) ? "json" : named;
  }

  /** Prints it; {@code people} is the table, {@code programs} the same for CSV and Markdown. */
  void print(Supplier<String> people, Supplier<Grid> programs, Supplier<JsonObject> document) {
    String text =
        switch (format()) {
          case "json" -> Json.pretty(document.get());
          case "csv" -> programs.get().csv();
          case "markdown" -> programs.get().markdown();
          default -> people.get();
        };
    command.out().print(text);
  }
}
