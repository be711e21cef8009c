package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Words before {@code --} that belong to nothing, as in {@code submit train.py -t 2 hours}. They
 * must not become arguments of the script unsaid.
 */
final class StrayWords {
  private static final String YAML = ".*\\.ya?ml";

  private StrayWords() {}

  /**
   * Returns the error for the first such word; empty if there is none.
   *
   * @param args all words of the command line
   * @param typed the words that are no options: the config or script, and its arguments
   */
  static Optional<NexaException> refusal(CommandSpec spec, List<String> args, List<String> typed) {
    int end = args.indexOf("--");
    int after = end < 0 ? 0 : args.size() - end - 1;
    List<String> before = typed.subList(0, Math.max(0, typed.size() - after));
    for (int i = 0; i < before.size(); i++) {
      String word = before.get(i);
      Optional<String> joined = joined(spec, args, word);
      if (i == 0 && joined.isEmpty()) {
        continue;
      }
      List<String> strays = before.subList(1, before.size());
      if (joined.isEmpty() && word.matches(YAML) && before.get(0).matches(YAML)) {
        return Optional.of(
            Subcommand.conflict(
                "'" + word + "' is a second config; expected one",
                "type one command for each config"));
      }
      String whole = String.join(" ", before);
      if (Files.exists(Path.of(whole))) {
        return Optional.of(
            ErrorCode.OPTIONS_CONFLICT.error(
                "the name of a file with a blank needs quotes: '" + whole + "'",
                Advice.command("", "nexa-slurm", spec.name(), whole)));
      }
      return Optional.of(
          Subcommand.conflict(
              "'" + word + "' is no option; only options and one config or script stand before --",
              joined.isPresent()
                  ? "Did you mean " + joined.get() + "?"
                  : FromScript.hasScriptName(before.get(0))
                      ? "If it is an argument of the script: " + moved(spec, args, strays)
                      : set(args, word, before.get(0))));
    }
    return Optional.empty();
  }

  /**
   * Returns the same command with these words after {@code --}, each option with its value.
   *
   * @param strays arguments of the script, or options that are not ours
   */
  static String moved(CommandSpec spec, List<String> args, List<String> strays) {
    List<String> before = new ArrayList<>(List.of("nexa-slurm"));
    List<String> after = new ArrayList<>(List.of("--"));
    int end = args.contains("--") ? args.indexOf("--") : args.size();
    for (int i = args.indexOf(spec.name()); i < end; i++) {
      boolean moves = strays.contains(args.get(i));
      (moves ? after : before).add(args.get(i));
      boolean value =
          i + 1 < end && args.get(i).startsWith("-") && !args.get(i + 1).startsWith("-");
      if (moves && value && !FromScript.hasScriptName(args.get(i + 1))) {
        after.add(args.get(++i));
      }
    }
    after.addAll(args.subList(Math.min(end + 1, args.size()), args.size()));
    before.addAll(after);
    return Advice.command("", before.toArray()).toString();
  }

  /** Returns how to give a config what stands behind it, such as Hydra's {@code lr=0.01}. */
  private static String set(List<String> args, String word, String config) {
    if (!word.matches("\\+*[A-Za-z_][\\w.]*=.*")) {
      return "Write it into " + config + "; only a script takes arguments";
    }
    List<String> words = new ArrayList<>(args.subList(0, args.indexOf(word)));
    words.addAll(List.of("--set", word.replaceFirst("^\\++", "")));
    words.addAll(args.subList(args.indexOf(word) + 1, args.size()));
    words.add(0, "nexa-slurm");
    return "To change a key of " + config + ": " + Advice.command("", words.toArray());
  }

  /** Returns what to type instead of a word behind a command that takes options only. */
  static Optional<Advice> ofOptions(String command, String word) {
    if (command.equals("init")) {
      return Optional.of(
          Advice.command("makes a workspace there", "nexa-slurm", "init", "--workspace", word));
    }
    if (!command.equals("install")) {
      return Optional.empty();
    }
    String every =
        word.replaceFirst("^\\*/(\\d+) \\* \\* \\* \\*$", "$1m")
            .replaceFirst("^\\d+ \\*/(\\d+) \\* \\* \\*$", "$1h")
            .replaceFirst("^(\\d+ \\* \\* \\* \\*|@hourly)$", "1h")
            .replaceFirst("^(\\d+ \\d+ \\* \\* \\*|@daily)$", "24h")
            .replaceFirst("^\\* \\* \\* \\* \\*$", "1m");
    return every.matches("\\d+[mh]")
        ? Optional.of(Advice.command("", "nexa-slurm", "cron", "install", "--every", every))
        : Optional.empty();
  }

  /** Returns the option whose value the word completes, such as {@code --time 2h}. */
  private static Optional<String> joined(CommandSpec spec, List<String> args, String word) {
    int at = args.indexOf(word);
    OptionSpec option = at < 2 ? null : spec.findOption(args.get(at - 2));
    if (option == null || Files.exists(Path.of(word))) {
      return Optional.empty();
    }
    String name = option.longestName();
    String value = args.get(at - 1);
    if (name.equals("--set") && !value.contains("=")) {
      String rest = word.equals("=") && at + 1 < args.size() ? args.get(at + 1) : "";
      return Optional.of(
          Advice.command("", name, value + (word.startsWith("=") ? "" : "=") + word + rest)
              .toString());
    }
    if (!value.matches("\\d+(\\.\\d+)?")) {
      return name.equals("--name")
          ? Optional.of(Advice.command("", name, value + " " + word).toString())
          : Optional.empty();
    }
    return switch (name) {
      case "--time" ->
          word.matches("(?i)(d|h|m|s)|(day|hour|hr|min|minute|sec|second)s?")
              ? Optional.of(name + " " + value + word.substring(0, 1).toLowerCase(Locale.ROOT))
              : Optional.empty();
      case "--mem" ->
          word.matches("(?i)[kmgt](i?b)?")
              ? Optional.of(name + " " + value + word.substring(0, 1).toUpperCase(Locale.ROOT))
              : Optional.empty();
      case "--gpus" ->
          word.matches("[A-Za-z]+\\d\\w*")
              ? Optional.of(name + " " + word + ":" + value)
              : Optional.empty();
      default -> Optional.empty();
    };
  }
}
