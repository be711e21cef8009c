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

  /** picocli's message for a number that is mistyped or too large names a type of Java. */
  private static final Pattern NOT_A_NUMBER =
      Pattern.compile(
          "Invalid value for .*?'(-[^']*|<?[^']*>?)'.*: '(.*)' is not an? (?:int|long)");

  @Override
  public int handleParseException(ParameterException wrong, String[] args) {
    CommandLine commandLine = wrong.getCommandLine();
    CommandSpec spec = commandLine.getCommandSpec();
    List<Advice> advice = new ArrayList<>();
    String message = String.valueOf(wrong.getMessage());
    if (wrong instanceof UnmatchedArgumentException unmatched) {
      message = unmatched(spec, unmatched.getUnmatched(), advice);
    }
    Matcher number = NOT_A_NUMBER.matcher(message);
    if (number.matches()) {
      message = number.group(1) + ": expected a whole number, got '" + number.group(2) + "'";
    }
    advice.add(
        Advice.command(
            "",
            Stream.concat(Stream.of(spec.qualifiedName().split(" ", -1)), Stream.of("--help"))
                .toArray()));
    return Failures.print(commandLine, new NexaException(code(wrong), message, advice));
  }

  /** Returns the message for words that the command does not know, and adds suggestions. */
  private static String unmatched(CommandSpec spec, List<String> words, List<Advice> advice) {
    List<String> options = words.stream().filter(word -> word.matches("--?[A-Za-z].*")).toList();
    if (!options.isEmpty()) {
      for (String option : options) {
        nearestOption(spec, option).map(UsageErrors::didYouMean).ifPresent(advice::add);
      }
      return (options.size() == 1 ? "Unknown option: " : "Unknown options: ") + quoted(options);
    }
    String word = words.get(0);
    if (spec.subcommands().isEmpty()) {
      return (words.size() == 1 ? "Unexpected argument: " : "Unexpected arguments: ")
          + quoted(words)
          + (spec.positionalParameters().isEmpty()
              ? "; " + spec.qualifiedName() + " takes options only"
              : "");
    }
    List<Advice> familiar = spec.parent() == null ? FamiliarWords.advice(word) : List.of();
    advice.addAll(familiar);
    if (familiar.isEmpty()) {
      nearestCommand(word, spec.subcommands().keySet())
          .map(name -> didYouMean(spec.qualifiedName() + " " + name))
          .ifPresent(advice::add);
    }
    return "There is no command '" + spec.qualifiedName() + " " + word + "'";
  }

  private static Advice didYouMean(String name) {
    return Advice.step("Did you mean: " + name);
  }

  private static String quoted(List<String> words) {
    return words.stream().map(word -> "'" + word + "'").collect(Collectors.joining(", "));
  }

  /** Returns the option that was probably meant, without its value. */
  private static Optional<String> nearestOption(CommandSpec spec, String typed) {
    int equals = typed.indexOf('=');
    String name = (equals < 0 ? typed : typed.substring(0, equals)).replaceFirst("^-+", "");
    List<String> known = new ArrayList<>();
    for (OptionSpec option : spec.options()) {
      if (!option.hidden()) {
        known.add(option.longestName().replaceFirst("^-+", ""));
      }
    }
    Optional<String> nearest = Nearest.to(name, known);
    if (nearest.isEmpty() && name.length() > 1) {
      List<String> begun = known.stream().filter(one -> one.startsWith(name)).toList();
      nearest = begun.size() == 1 ? Optional.of(begun.get(0)) : nearest;
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
    List<String> begun =
        names.stream().filter(name -> name.startsWith(typed) && !ENDING.contains(name)).toList();
    return begun.size() == 1 ? Optional.of(begun.get(0)) : Optional.empty();
  }

  private static ErrorCode code(ParameterException wrong) {
    if (wrong instanceof UnmatchedArgumentException) {
      return ErrorCode.OPTION_UNKNOWN;
    }
    boolean commandMissing = wrong.getArgSpec() == null && wrong.getValue() == null;
    return wrong instanceof MissingParameterException || commandMissing
        ? ErrorCode.ARGUMENT_MISSING
        : ErrorCode.OPTION_INVALID;
  }
}
