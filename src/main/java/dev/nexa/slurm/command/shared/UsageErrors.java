package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Prints an error of the command line, a suggestion for a mistyped name, and where to read more.
 */
public final class UsageErrors implements IParameterExceptionHandler {
  /**
   * Commands that end or take back something. The beginning of such a name is not enough to suggest
   * it.
   */
  private static final Set<String> ENDING =
      Set.of("cancel", "interrupt", "revoke", "remove", "stop");

  /** The answer to the question before a command destroys something. It is never suggested. */
  private static final String CONSENT = "--yes";

  /** How other programs (make, rsync, git clean, kubectl) name --dry-run. */
  private static final Set<String> DRY =
      Set.of(
          "-n --dryrun --just-print --recon --simulate --check --whatif --what-if".split(" ", -1));

  /** The name of an option's value in an advice. */
  private static final String VALUES = "NAME|NODES|NAMES|FEATURES|DIR|IMAGE|VALUE|CONFIG";

  /** A command with more options names only the nearest ones. */
  private static final int MOST_OPTIONS = 6;

  /** picocli's message for a number that is mistyped or too large names a type of Java. */
  private static final Pattern NOT_A_NUMBER =
      Pattern.compile(
          "Invalid value for .*?'(-[^']*|<?[^']*>?)'.*: '(.*)' is not an? (?:int|long)");

  private static final Pattern VALUE_OF_FLAG =
      Pattern.compile("Invalid value for option '(-[^']*)'.*: '(.*)' is not a boolean");

  @Override
  public int handleParseException(ParameterException wrong, String[] args) {
    CommandLine commandLine = wrong.getCommandLine();
    CommandSpec spec = commandLine.getCommandSpec();
    if (spec.findOption("--save") != null) {
      Optional<NexaException> launcher = LauncherWords.refusal(spec, List.of(args));
      if (launcher.isPresent()) {
        return Failures.print(commandLine, launcher.get());
      }
    }
    List<Advice> advice = new ArrayList<>();
    String message = String.valueOf(wrong.getMessage());
    List<String> unknown = unknown(wrong, spec, args);
    if (!unknown.isEmpty()) {
      message = unmatched(spec, unknown, List.of(args), advice);
    }
    Optional<Advice> eaten = savedScript(wrong, spec, args);
    if (eaten.isPresent()) {
      message = "--save took the script for the name of the config";
      advice.add(eaten.get());
    }
    String[] examples = eaten.isPresent() ? new String[0] : spec.usageMessage().footer();
    if (unknown.isEmpty()
        && wrong instanceof MissingParameterException missing
        && examples.length > 0) {
      advice.add(Advice.step("for example: " + example(missing, examples)));
    }
    if (wrong instanceof OverwrittenOptionException twice
        && twice.getOverwritten() instanceof OptionSpec option) {
      message = option.longestName() + " is given more than once; expected it once";
      if (option.longestName().equals("--where")) {
        advice.add(Advice.step("Write all terms into one: --where 'status=failed cost>10'"));
      } else if (option.longestName().equals("--by")) {
        advice.add(Advice.step("Write all names into one: --by project,user"));
      }
    }
    Matcher number = NOT_A_NUMBER.matcher(message);
    if (number.matches()) {
      message = number.group(1) + ": expected a whole number, got '" + number.group(2) + "'";
    }
    Matcher flag = VALUE_OF_FLAG.matcher(message);
    if (flag.find()) {
      message = flag.group(1) + " takes no value; leave out " + "'=" + flag.group(2) + "'";
    }
    advice.add(Advice.command("", (Object[]) (spec.qualifiedName() + " --help").split(" ", -1)));
    return Failures.print(
        commandLine,
        new NexaException(
            unknown.isEmpty() ? code(wrong) : ErrorCode.OPTION_UNKNOWN, message, advice));
  }

  /** Returns the command to type if {@code --save} stands before the script. */
  private static Optional<Advice> savedScript(
      ParameterException wrong, CommandSpec spec, String[] args) {
    List<String> words = new ArrayList<>(List.of(args));
    int save = words.indexOf("--save");
    boolean before = save >= 0 && save + 1 < words.size();
    if (!(wrong instanceof MissingParameterException)
        || spec.findOption("--save") == null
        || !before
        || !FromScript.hasScriptName(words.get(save + 1))) {
      return Optional.empty();
    }
    String script = words.remove(save + 1);
    words.remove(save);
    words.addAll(List.of(script, "--save", FromScript.yamlName(script)));
    words.add(0, "nexa-slurm");
    return Optional.of(Advice.command("", words.toArray()));
  }

  /** Returns the example with the option that lacks its value, else the first example. */
  private static String example(MissingParameterException wrong, String[] lines) {
    List<String> examples = Stream.of(lines).map(Subcommand::typed).toList();
    if (!wrong.getMissing().isEmpty() && wrong.getMissing().get(0) instanceof OptionSpec option) {
      return examples.stream()
          .filter(example -> example.contains(option.longestName() + " "))
          .findFirst()
          .orElse(option.longestName() + " " + option.paramLabel());
    }
    return examples.get(0);
  }

  /**
   * Returns the words that the command does not know. picocli reports a missing parameter before a
   * mistyped option, which is mostly the cause.
   */
  private static List<String> unknown(ParameterException wrong, CommandSpec spec, String[] args) {
    if (wrong instanceof UnmatchedArgumentException unmatched) {
      return unmatched.getUnmatched();
    }
    List<String> unknown = new ArrayList<>();
    if (wrong instanceof MissingParameterException) {
      for (String word : args) {
        if (word.equals("--")) {
          break;
        }
        String name = word.split("=", 2)[0];
        boolean known = spec.findOption(name) != null || spec.root().findOption(name) != null;
        if (name.matches("--[A-Za-z].*") && !known) {
          unknown.add(word);
        }
      }
    }
    return unknown;
  }

  /** Returns the message for words that the command does not know, and adds suggestions. */
  private static String unmatched(
      CommandSpec spec, List<String> words, List<String> args, List<Advice> advice) {
    List<String> options = words.stream().filter(word -> word.matches("--?[A-Za-z].*")).toList();
    boolean mistypedCommand = !spec.subcommands().isEmpty() && !words.get(0).startsWith("-");
    if (!options.isEmpty() && !mistypedCommand) {
      Optional<Advice> period =
          spec.findOption("--where") == null ? Optional.empty() : SumWords.period(args);
      period.ifPresent(advice::add);
      boolean script =
          spec.findOption("--save") != null && args.stream().anyMatch(FromScript::hasScriptName);
      for (String option : options) {
        if (period.isEmpty() || !SumWords.isPeriod(option)) {
          suggestion(spec, option, args, !script).ifPresent(advice::add);
        }
      }
      if (script) {
        advice.add(
            Advice.step(
                "an option of the script comes after --: "
                    + StrayWords.moved(spec, args, options)));
      }
      return (options.size() == 1 ? "Unknown option: " : "Unknown options: ") + quoted(options);
    }
    String word = words.get(0);
    if (spec.subcommands().isEmpty() && takesOneRun(spec)) {
      advice.add(
          Advice.step(
              "type one command for each run: " + spec.qualifiedName() + " " + words.get(0)));
      return "`%s` takes one run; the command names %s too"
          .formatted(spec.qualifiedName(), quoted(words));
    }
    if (spec.subcommands().isEmpty()) {
      SumWords.ofBudget(spec.qualifiedName()).ifPresent(advice::add);
      StrayWords.ofOptions(spec.name(), word).ifPresent(advice::add);
      return (words.size() == 1 ? "Unexpected argument: " : "Unexpected arguments: ")
          + quoted(words)
          + (spec.positionalParameters().isEmpty()
              ? "; " + spec.qualifiedName() + " takes options only"
              : "");
    }
    boolean sums = spec.findOption("--by") != null;
    Optional<Advice> stray = sums ? SumWords.stray(word, args) : Optional.empty();
    if (stray.isPresent()) {
      advice.add(stray.get());
      return "Unexpected argument: '" + word + "'";
    }
    if (spec.qualifiedName().equals("nexa-slurm costs import") && word.matches(".+\\.\\w+")) {
      advice.add(
          Advice.step(
              "Name the kind of bill: nexa-slurm costs import csv " + word + " --provider NAME"));
    }
    List<String> rest = args.subList(args.indexOf(word) + 1, args.size());
    String object = rest.size() == 1 ? rest.get(0) : "";
    String place = isRun(object) ? "RUN" : object.matches(".+\\.(ya?ml|py|sh)") ? "CONFIG" : "";
    List<Advice> familiar =
        spec.parent() == null
            ? FamiliarWords.advice(words).stream().map(one -> filled(one, place, object)).toList()
            : sums
                ? SumWords.advice(spec.qualifiedName(), word)
                : FamiliarWords.ofCleanup(spec.name(), word);
    advice.addAll(familiar);
    if (familiar.isEmpty()) {
      FamiliarWords.synonym(word, spec.subcommands().keySet())
          .or(() -> nearestCommand(word, spec.subcommands().keySet()))
          .map(name -> didYouMean(spec.qualifiedName() + " " + name))
          .ifPresent(advice::add);
    }
    if (isRun(word) && spec.subcommands().containsKey("show")) {
      advice.add(didYouMean(spec.qualifiedName() + " show " + word));
    }
    boolean lists = word.equals("list") || word.equals("ls");
    if (lists && spec.subcommands().containsKey("show")) {
      advice.add(didYouMean(spec.qualifiedName() + " show"));
    }
    return "There is no command '" + spec.qualifiedName() + " " + word + "'";
  }

  /** Returns the advice with what was typed in the place of a word such as NAME at its end. */
  private static Advice filled(Advice advice, String places, String typed) {
    boolean plain = typed.matches("[\\w./,:@][\\w./,:@-]*") && !places.isEmpty();
    String text = advice.text();
    return new Advice(
        advice.kind(),
        advice.command(),
        plain ? text.replaceFirst("\\b(" + places + ")$", typed) : text);
  }

  private static boolean isRun(String word) {
    return word.equals("latest") || word.matches("\\d+(_\\d+)?|\\w+_\\d{8}_\\d{6}(_\\d+)?");
  }

  private static boolean takesOneRun(CommandSpec spec) {
    return spec.positionalParameters().size() == 1
        && spec.positionalParameters().get(0).paramLabel().equals("RUN");
  }

  private static Advice didYouMean(String name) {
    return Advice.step("Did you mean: " + name);
  }

  private static String quoted(List<String> words) {
    return words.stream().map(word -> "'" + word + "'").collect(Collectors.joining(", "));
  }

  /**
   * Returns the option that was probably meant, else what other programs' option is here.
   *
   * @param any whether to name options that are not like the typed one
   */
  private static Optional<Advice> suggestion(
      CommandSpec spec, String typed, List<String> args, boolean any) {
    String name = typed.split("=", 2)[0];
    List<String> own = new ArrayList<>();
    spec.options().stream()
        .filter(option -> !option.hidden() && !option.longestName().equals(CONSENT))
        .forEach(option -> own.add(option.longestName()));
    if (List.of("--top", "--head", "--max").contains(name) && own.contains("--limit")) {
      return Optional.of(didYouMean("--limit"));
    }
    Optional<Advice> familiar = FamiliarWords.option(spec.name(), name, own);
    int next = args.indexOf(typed) + 1;
    String value =
        typed.contains("=") ? typed.split("=", 2)[1] : next < args.size() ? args.get(next) : "";
    if (familiar.isPresent()) {
      return familiar.map(one -> filled(one, VALUES, value));
    }
    if (own.contains("--dry-run") && DRY.contains(name)) {
      return Optional.of(didYouMean("--dry-run"));
    }
    Optional<String> nearest = nearestOption(name, own);
    if (nearest.isPresent()) {
      return Optional.of(didYouMean(nearest.get()));
    }
    Optional<Advice> nearlyFamiliar =
        Nearest.to(name, FamiliarWords.OPTIONS)
            .flatMap(word -> FamiliarWords.option(spec.name(), word, own));
    if (spec.parent() != null) {
      own.removeAll(List.of("--help", "--version", "--workspace", "--stacktrace"));
    }
    return nearlyFamiliar.isPresent() || !any
        ? nearlyFamiliar.map(one -> filled(one, VALUES, value))
        : Optional.of(Advice.step(options(spec, name, own)));
  }

  private static String options(CommandSpec spec, String typed, List<String> own) {
    if (own.isEmpty()) {
      return spec.qualifiedName() + " has no options of its own";
    }
    return own.size() <= MOST_OPTIONS
        ? "the options of " + spec.qualifiedName() + " are " + String.join(", ", own)
        : "the nearest options are " + String.join(", ", Nearest.first(typed, own, 3));
  }

  /** Returns the option that was probably meant: mistyped, begun, or with other hyphens. */
  private static Optional<String> nearestOption(String typed, List<String> own) {
    String name = typed.replaceFirst("^-+", "");
    List<String> known = own.stream().map(option -> option.replaceFirst("^-+", "")).toList();
    Optional<String> nearest = name.length() > 1 ? Nearest.to(name, known) : Optional.empty();
    if (nearest.isEmpty() && name.length() > 1) {
      nearest = only(known.stream().filter(one -> one.startsWith(name)).toList());
    }
    if (nearest.isEmpty()) {
      String plain = name.replace("-", "");
      nearest = known.stream().filter(one -> one.replace("-", "").equals(plain)).findFirst();
    }
    return nearest.map(one -> "--" + one);
  }

  /** Returns the command that was probably meant: one mistyped, or the only one so begun. */
  private static Optional<String> nearestCommand(String typed, Set<String> names) {
    Optional<String> nearest = Nearest.to(typed, names);
    if (nearest.isPresent() || typed.length() < 2) {
      return nearest;
    }
    return only(
        names.stream().filter(name -> name.startsWith(typed) && !ENDING.contains(name)).toList());
  }

  private static Optional<String> only(List<String> names) {
    return names.size() == 1 ? Optional.of(names.get(0)) : Optional.empty();
  }

  private static ErrorCode code(ParameterException wrong) {
    if (wrong instanceof UnmatchedArgumentException) {
      return ErrorCode.OPTION_UNKNOWN;
    }
    if (wrong instanceof OverwrittenOptionException) {
      return ErrorCode.OPTION_INVALID;
    }
    boolean commandMissing = wrong.getArgSpec() == null && wrong.getValue() == null;
    return wrong instanceof MissingParameterException || commandMissing
        ? ErrorCode.ARGUMENT_MISSING
        : ErrorCode.OPTION_INVALID;
  }
}
