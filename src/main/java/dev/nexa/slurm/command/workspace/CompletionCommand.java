package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.backend.Backends;
import dev.nexa.slurm.money.summary.RunField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The command {@code nexa-slurm generate-completion}: a script for bash and zsh that completes
 * commands, options, configs, runs, profiles and the words that an option takes. It reads the
 * workspace's folders itself, because a JVM would be too slow for a key press.
 */
public final class CompletionCommand extends Subcommand {
  private static final Pattern ONE_OF = Pattern.compile("One of ([a-z, ]+)\\.");

  public CompletionCommand() {
    super(
        "generate-completion",
        "Prints a completion script for bash and zsh.",
        "source <(nexa-slurm generate-completion)");
  }

  @Override
  protected void work() {
    Map<String, CommandSpec> commands = new TreeMap<>();
    collect("", spec().root(), commands);
    String names = String.join(" ", spec().root().subcommands().keySet());
    StringBuilder words = new StringBuilder("    'help') echo '" + names + "' ;;\n");
    commands.forEach(
        (path, command) ->
            words.append(
                "    '%s') echo '%s%s' ;;\n"
                    .formatted(path, path.isEmpty() ? "help " : "", words(command))));
    print(Pages.required("/completion.bash").replace("@WORDS@\n", words));
  }

  private static void collect(String path, CommandSpec command, Map<String, CommandSpec> all) {
    all.put(path, command);
    for (Map.Entry<String, CommandLine> sub : command.subcommands().entrySet()) {
      CommandSpec spec = sub.getValue().getCommandSpec();
      if (!spec.usageMessage().hidden()) {
        collect((path + " " + sub.getKey()).strip(), spec, all);
      }
    }
  }

  private static String words(CommandSpec command) {
    List<String> words = new ArrayList<>(command.subcommands().keySet());
    for (OptionSpec option : command.options()) {
      if (!option.hidden()) {
        String value = option.arity().max() == 0 ? "" : "=" + kind(option);
        Stream.of(option.names()).map(name -> name + value).forEach(words::add);
      }
    }
    command.positionalParameters().stream()
        .findFirst()
        .ifPresent(parameter -> words.add("@" + kind(parameter)));
    return String.join(" ", words);
  }

  /** Returns what the script completes: a kind that it knows, words after commas, or nothing. */
  private static String kind(ArgSpec argument) {
    String label = argument.paramLabel();
    String description = String.join(" ", argument.description());
    Matcher oneOf = ONE_OF.matcher(description);
    String name = argument instanceof OptionSpec option ? option.longestName() : "";
    if (name.equals("--cluster")) {
      return "CLUSTER";
    }
    if (name.equals("--backend")) {
      return "," + String.join(",", Backends.names());
    }
    if (name.equals("--partition") || name.equals("--account")) {
      return name.substring(2).toUpperCase(Locale.ROOT);
    }
    return switch (label) {
      case "CONFIG" -> description.contains("a script") ? "SCRIPT" : label;
      case "DIR", "RUN" -> label;
      case "[NAME=]RUN" -> "RUN";
      case "TYPE:RUN" -> "AFTER";
      case "FILE", "PATH", "ESTIMATE" -> "FILE";
      case "CODE|KEY|PAGE" ->
          Arrays.stream(ErrorCode.values())
              .map(ErrorCode::text)
              .collect(Collectors.joining(",", ",", ""));
      case "NAMES" -> "," + String.join(",", RunField.words(true));
      case "EXPR" -> "," + String.join(",", RunField.words(false));
      default -> oneOf.find() ? "," + oneOf.group(1).replace(" ", "") : "ANY";
    };
  }
}
