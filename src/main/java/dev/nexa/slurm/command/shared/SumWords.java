package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.money.summary.RunField;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Words and options that people type by habit in the commands that add runs up, and what to type
 * here.
 */
final class SumWords {
  private static final List<String> SINCE =
      List.of("--since", "--from", "--after", "--start", "--begin");
  private static final List<String> UNTIL = List.of("--until", "--to", "--before", "--end");

  /** A table as {@link FamiliarWords} has it; NAMED stands for the command. */
  private static final String WORDS =
      """
      report reports summary total totals list ls | NAMED; shows what finished runs cost
      export csv excel download save | To write a file for a spreadsheet: NAMED --month last --format csv > FILE
      by group | To group: NAMED --by project,user
      estimate estimates compare | nexa-slurm costs accuracy; compares estimates with the cost
      bill bills invoice invoices | To import a bill: nexa-slurm costs import csv FILE --provider NAME
      forecast projection | nexa-slurm costs; ends with the forecast of this month
        | nexa-slurm costs budget; has a forecast for each budget
      trend months history | To see each month: NAMED --by month
      waste wasted failed | To see it, read the column WASTED of: NAMED --by project
      desc asc | Leave it out: the largest group comes first
      """;

  private SumWords() {}

  /**
   * Returns what does what the word says; empty for other words.
   *
   * @param command the command, such as {@code nexa-slurm costs}
   */
  static List<Advice> advice(String command, String word) {
    if (word.matches("[a-z_]+(:[^=]*)?(=|!=|<|>|~).*")) {
      return List.of(
          Advice.step(
              "Put the whole expression into single quotes: --where 'project=nlp " + word + "'"));
    }
    if (word.equals("month")) {
      return List.of(Advice.step("For one month: " + command + " --month last"));
    }
    if (RunField.words(true).contains(word)) {
      return List.of(
          Advice.step("To group by it: " + command + " --by " + word),
          Advice.step(
              "To group by several, without a space: --by "
                  + (word.equals("project") ? "project,user" : "project," + word)));
    }
    return word.matches("last|this|\\d{4}-\\d{2}")
        ? List.of(Advice.step("For one month: " + command + " --month " + word))
        : FamiliarWords.find(WORDS, List.of(word), command);
  }

  /** Returns what is wrong with a word that a space has cut off its option; empty for others. */
  static Optional<Advice> stray(String word, List<String> args) {
    int at = args.indexOf(word);
    String option = at < 2 ? "" : args.get(at - 2);
    if (option.equals("--where") && word.matches("==?|!=|~|in|is")) {
      String value =
          at + 1 < args.size()
              ? args.get(at + 1).replaceFirst("^\\(", "").replaceAll("[(),].*", "")
              : "";
      String term = args.get(at - 1) + (word.matches("!=|~") ? word : "=");
      term += value.isEmpty() ? "VALUE" : value;
      return Optional.of(Advice.step("Write the expression without spaces: --where " + term));
    }
    return option.equals("--month") && args.get(at - 1).matches("last|this")
        ? Optional.of(Advice.step("Leave it out: --month " + args.get(at - 1)))
        : Optional.empty();
  }

  /** Returns whether the option says from when or until when runs count. */
  static boolean isPeriod(String option) {
    String name = option.split("=", 2)[0];
    return SINCE.contains(name) || UNTIL.contains(name);
  }

  /**
   * Returns a single {@code --where} for the typed options with a first or a last day; empty
   * without such options.
   */
  static Optional<Advice> period(List<String> args) {
    List<String> terms = new ArrayList<>();
    boolean some = false;
    for (int i = 0; i < args.size(); i++) {
      String[] parts = args.get(i).split("=", 2);
      boolean apart = parts.length == 1 && i + 1 < args.size();
      String value = apart ? args.get(i + 1) : parts.length == 2 ? parts[1] : "";
      if (parts[0].equals("--where") && !value.isEmpty()) {
        terms.add(0, value);
      } else if (isPeriod(args.get(i))) {
        boolean since = SINCE.contains(parts[0]);
        boolean date = value.matches("[0-9][0-9A-Za-z:.-]*");
        some = true;
        terms.add(
            (since ? "ended>=" : "ended<") + (date ? value : since ? "2025-11-01" : "2025-12-01"));
      }
    }
    return some
        ? Optional.of(Advice.step("type one --where '" + String.join(" ", terms) + "'"))
        : Optional.empty();
  }

  /** Returns who sets budgets, for {@code costs budget} with words that would set one. */
  static Optional<Advice> ofBudget(String command) {
    return command.equals("nexa-slurm costs budget")
        ? Optional.of(
            Advice.step(
                "the command shows all budgets; the admin writes them into configs/policy.yaml:"
                    + " nexa-slurm explain docs/budgets.md"))
        : Optional.empty();
  }

  /**
   * Returns what does here what an option of other reports does; empty for other options.
   *
   * @param command the command's name, such as {@code costs}
   * @param own the long names of the command's options
   */
  static Optional<Advice> option(String command, String name, Collection<String> own) {
    String bare = name.replaceFirst("^-+", "");
    boolean formats = own.contains("--format");
    boolean filters = own.contains("--where");
    if (filters && RunField.words(false).contains(bare)) {
      String but = bare.equals("currency") ? "; it selects runs and converts nothing" : "";
      return Optional.of(Advice.step(name + ": type --where " + bare + "=VALUE" + but));
    }
    if (command.equals("budget") && formats && !name.matches("--(csv|html|pdf|xlsx|excel|out.*)")) {
      return ofBudget("nexa-slurm costs budget");
    }
    String ours =
        switch (name) {
          case "--csv", "--markdown", "--focus" -> formats ? "type --format " + bare : "";
          case "--html", "--pdf", "--xlsx", "--excel" ->
              formats ? "type --format markdown or --format csv" : "";
          case "-o", "--output", "--out", "--file" -> formats ? "type --format csv > FILE" : "";
          case "--email", "--mail" -> formats ? "type --format csv > FILE, and mail the file" : "";
          case "--chart", "--plot", "--graph" ->
              formats ? "type --format csv > FILE, and draw it in a spreadsheet" : "";
          case "--year" -> filters ? "type --where 'month>=2025-01 month<=2025-12'" : "";
          case "--quarter", "-q" -> filters ? "type --where 'month>=2025-10 month<=2025-12'" : "";
          case "--week", "--day", "--days", "--date", "--period" ->
              filters ? "type --where 'ended>=7d', or --month last" : "";
          default -> "";
        };
    if (ours.isEmpty() && own.contains("--by")) {
      ours =
          switch (name) {
            case "--total", "--totals", "--sum" -> "leave it out: the row `all` is the sum";
            case "--budget", "--budgets" -> "type nexa-slurm costs budget";
            case "--timezone", "--tz", "--utc", "--local", "--localtime" ->
                "leave it out: days and months are in UTC";
            case "--group", "--group-by", "--groupby" -> "type --by project,user";
            case "--team", "--department", "--cost-center" ->
                "type --where tag=team:NAME, with a tag of your configs, or --where account=NAME";
            default -> "";
          };
    }
    return ours.isEmpty() ? Optional.empty() : Optional.of(Advice.step(name + ": " + ours));
  }
}
