package dev.nexa.slurm.job.config.steps;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.List;

/** The section {@code data.filter}. */
final class FilterKeys {
  private static final Section RULE =
      section(
          required("column", PrepareKeys.COLUMN, "The column. A row without a value is rejected."),
          optional("min", ValueType.DECIMAL_NUMBER, "The least value of a number."),
          optional("max", ValueType.DECIMAL_NUMBER, "The greatest value of a number."),
          optional("one_of", listOf(ValueType.TEXT), "The texts that are allowed."),
          optional(
              "min_chars", ValueType.integer(0, 1_000_000_000), "The least characters of a text."),
          optional(
              "max_chars", ValueType.integer(0, 1_000_000_000), "The most characters of a text."),
          optional("min_words", ValueType.integer(0, 1_000_000_000), "The least words of a text."),
          optional("max_words", ValueType.integer(0, 1_000_000_000), "The most words of a text."),
          optional(
              "max_symbols",
              ValueType.DECIMAL_NUMBER,
              "The greatest share of characters that are no letter, digit or white space, from 0 to 1."),
          optional(
              "max_repeated",
              ValueType.DECIMAL_NUMBER,
              "The greatest share of words that stand in the text before, from 0 to 1."));

  private static final Section KEYS =
      section(
          required("input", listOf(ValueType.PATH), "The files, as in data.prepare."),
          required(
              "columns",
              mapOf(PrepareKeys.COLUMN, PrepareKeys.TYPE),
              "The columns, as in data.prepare."),
          optional(
              "rules",
              listOf(RULE),
              "Conditions on columns. A row that fails one is rejected with the first rule that it fails."),
          optional(
              "agreement",
              section(
                  required(
                      "columns", listOf(PrepareKeys.COLUMN), "The scores of two or more judges."),
                  required(
                      "max_difference",
                      ValueType.DECIMAL_NUMBER,
                      "The greatest difference between two judges.")),
              "Rejects rows on which judges disagree, and rows that a judge did not score."),
          optional(
              "best_of",
              section(
                  required(
                      "key",
                      PrepareKeys.COLUMN,
                      "The column that rows of one group have in common."),
                  required("by", PrepareKeys.COLUMN, "The column whose greatest values stay."),
                  withDefault(
                      "keep",
                      ValueType.integer(1, 1_000_000),
                      "1",
                      "How many rows of a group stay.")),
              "Keeps the best rows of each group, of those that pass the rules."),
          withDefault(
              "conversations",
              ValueType.BOOLEAN,
              "false",
              "Whether to write the rows also as conversations to train on. Needs the columns `completion`, and"
                  + " `messages` or `prompt`, as `collect` writes them."),
          PrepareKeys.ROWS_PER_FILE,
          withDefault(
              "max_row", ValueType.MEMORY, "16M", "The most bytes of a row of JSONL or CSV."));

  static final DataStep STEP =
      new DataStep(
          "filter",
          "Keeps the rows that pass rules, on which judges agree, or that are the best of their group.",
          KEYS,
          List.of(new DataStep.PathKey("", "input", "--input")),
          FilterKeys::check);

  private FilterKeys() {}

  private static void check(Values step, int tasks) {
    Values columns = step.section("columns");
    for (Values rule : step.sections("rules")) {
      String column = rule.optionalText("column").orElse("");
      boolean number = rule.has("min") || rule.has("max");
      boolean text =
          rule.names().stream().anyMatch(key -> !List.of("column", "min", "max").contains(key));
      if (!number && !text) {
        rule.report("column", "the rule has no condition, such as min: 3");
      }
      known(rule, "column", column, number ? "number" : "", columns);
      known(rule, "column", column, text ? "text" : "", columns);
    }
    if (step.optional("conversations", Boolean.class).orElse(false)) {
      boolean asked = columns.has("messages") || columns.has("prompt");
      if (!asked || !columns.has("completion")) {
        String message = "needs the columns completion, and messages or prompt, in columns";
        step.report("conversations", message);
      }
    }
    if (step.has("agreement")) {
      Values agreement = step.section("agreement");
      List<String> judges = agreement.texts("columns");
      if (judges.size() < 2) {
        agreement.report("columns", "needs two judges or more");
      }
      judges.forEach(one -> known(agreement, "columns", one, "number", columns));
    }
    if (step.has("best_of")) {
      Values best = step.section("best_of");
      known(best, "key", best.optionalText("key").orElse(""), "", columns);
      known(best, "by", best.optionalText("by").orElse(""), "number", columns);
    }
  }

  /** Adds a problem for an unknown column, or one of another type. */
  private static void known(Values at, String key, String name, String wanted, Values columns) {
    if (name.isEmpty()) {
      return; // It is missing, which is a problem already.
    }
    if (!columns.has(name)) {
      String hint = Nearest.hint(name, columns.names());
      at.report(key, "there is no column '" + name + "' in columns" + hint);
      return;
    }
    String type = columns.optionalText(name).orElse("").replace("?", "");
    boolean fits =
        switch (wanted) {
          case "number" -> type.equals("number") || type.equals("integer");
          case "text" -> type.equals("text");
          default -> true;
        };
    if (!fits) {
      at.report(key, "the column '" + name + "' is " + type + ", not " + wanted);
    }
  }
}
