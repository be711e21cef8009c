package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Listing;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Model.OptionSpec;

/** The options {@code --format} and {@code --json} of a command that prints a list. */
public class FormatOption {
  private final Subcommand command;
  private final List<String> formats;
  private final OptionSpec format;
  private final OptionSpec json;

  /**
   * Adds the options to a command.
   *
   * @param formats the formats that the command can print
   */
  public FormatOption(Subcommand command, List<String> formats) {
    this.command = command;
    this.formats = formats;
    format = command.option("--format FORMAT", "One of " + String.join(", ", formats) + ".");
    json = command.jsonFlag();
  }

  /**
   * Returns the requested format; {@code table} if none was typed.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if there is no such format, or {@code --json}
   *     contradicts it
   */
  public final String format() {
    String typed = format.getValue();
    if (typed != null && !formats.contains(typed)) {
      throw notOneOf("--format", formats, typed);
    }
    boolean asJson = Subcommand.given(json);
    if (asJson && typed != null && !typed.equals("json")) {
      throw Subcommand.conflict(
          "--json and --format " + typed + " ask for two formats", "leave one of them out");
    }
    return asJson ? "json" : typed == null ? "table" : typed;
  }

  /** Returns the error for a word that an option does not take. */
  public static NexaException notOneOf(String option, List<String> words, String typed) {
    return Subcommand.invalid(
        "%s: expected one of %s, got '%s'%s"
            .formatted(option, String.join(", ", words), typed, Nearest.hint(typed, words)));
  }

  /**
   * Prints the result in the requested format.
   *
   * @param people makes the table of {@link Subcommand#style}
   * @param programs makes the rows for CSV and Markdown
   * @param document makes the JSON document
   */
  public final void print(
      Supplier<String> people, Supplier<Listing<?>> programs, Supplier<JsonObject> document) {
    print(people, programs, () -> programs.get().markdown(), document);
  }

  /**
   * Prints the result in the requested format.
   *
   * @param people makes the table of {@link Subcommand#style}
   * @param programs makes the rows for CSV
   * @param markdown makes the Markdown
   * @param document makes the JSON document
   */
  public final void print(
      Supplier<String> people,
      Supplier<Listing<?>> programs,
      Supplier<String> markdown,
      Supplier<JsonObject> document) {
    switch (format()) {
      case "json" -> command.print(document.get());
      case "csv" -> command.print(programs.get().csv());
      case "markdown" -> command.print(markdown.get());
      default -> command.print(people.get());
    }
  }
}
