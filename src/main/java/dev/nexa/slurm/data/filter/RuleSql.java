package dev.nexa.slurm.data.filter;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Sql;
import java.util.ArrayList;
import java.util.List;

/** A rule of {@code data filter} as SQL. */
record RuleSql(JsonObject rule, String name, String value) {
  RuleSql(JsonObject rule, FilterSettings settings) {
    this(rule, rule.text("column"), settings.column(rule.text("column")));
  }

  /** Returns the WHEN branches with the detail of a row that fails the rule. */
  String failures() {
    List<String> branches = new ArrayList<>();
    branches.add("WHEN " + value + " IS NULL THEN " + Sql.text(name + " is missing"));
    number(branches, "min", value, "<", "");
    number(branches, "max", value, ">", "");
    if (rule.members().containsKey("one_of")) {
      branches.add(
          "WHEN NOT list_contains(%s, %s::VARCHAR) THEN %s"
              .formatted(Sql.texts(rule.texts("one_of")), value, shown(value, "")));
    }
    number(branches, "min_chars", "length(" + value + ")", "<", "characters");
    number(branches, "max_chars", "length(" + value + ")", ">", "characters");
    String words = "regexp_extract_all(lower(" + value + "), '[\\pL\\pN]+')";
    number(branches, "min_words", "len(" + words + ")", "<", "words");
    number(branches, "max_words", "len(" + words + ")", ">", "words");
    String symbols = "length(regexp_replace(" + value + ", '[\\pL\\pN\\s]+', '', 'g'))";
    String share = "round(" + symbols + " / greatest(1, length(" + value + ")), 3)";
    number(branches, "max_symbols", share, ">", "symbols");
    String distinct = "len(list_distinct(" + words + "))";
    String repeated = "round(1 - " + distinct + " / greatest(1, len(" + words + ")), 3)";
    number(branches, "max_repeated", repeated, ">", "repeated");
    return String.join(" ", branches);
  }

  private void number(
      List<String> branches, String key, String measured, String fails, String unit) {
    if (rule.members().containsKey(key)) {
      String limit = rule.decimal(key).toPlainString();
      String why = shown(measured, unit) + " || " + Sql.text(", " + key + " is " + limit);
      branches.add("WHEN %s %s %s THEN %s".formatted(measured, fails, limit, why));
    }
  }

  private String shown(String measured, String unit) {
    String shown = Sql.text(name + " ") + " || left((" + measured + ")::VARCHAR, 40)";
    return unit.isEmpty() ? shown : shown + " || " + Sql.text(" " + unit);
  }
}
