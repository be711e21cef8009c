package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.job.config.foreign.SbatchHeader;
import dev.nexa.slurm.job.config.foreign.SbatchVariables;
import dev.nexa.slurm.job.config.foreign.SbatchWords;
import dev.nexa.slurm.job.config.foreign.ScriptConfig;
import dev.nexa.slurm.run.Context;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A command line of sbatch: {@code submit --as-sbatch OPTIONS [SCRIPT ARGS]}.
 *
 * @param script the script's path, or the name that sbatch gives to what is no file
 * @param args the script's arguments
 * @param input the script that came on standard input; empty for a file and for {@code --wrap}
 * @param wrap the command of {@code --wrap}, which is typed in place of a script
 * @param header all options: of the script, the variables and the command line
 */
public record SbatchLine(
    String script,
    List<String> args,
    Optional<byte[]> input,
    Optional<String> wrap,
    SbatchHeader header) {
  /** The options that say what sbatch itself does. */
  static final Set<String> OWN =
      Set.of(
          ("--parsable --quiet --verbose --wait --wrap --test-only --dependency --help --usage"
                  + " --version --ignore-pbs")
              .split(" ", -1));

  /**
   * Takes the words apart.
   *
   * @param stdin reads standard input
   * @throws dev.nexa.slurm.base.error.NexaException if {@code --wrap} has arguments, or if the
   *     script is missing or none
   */
  static SbatchLine of(Context context, List<String> words, Supplier<byte[]> stdin) {
    int end = SbatchHeader.countOptions(words);
    List<String> rest = words.subList(end, words.size());
    Optional<String> wrap = Optional.ofNullable(typed(words).get("--wrap"));
    if (wrap.isPresent() && !rest.isEmpty()) {
      throw FromScript.noArguments(rest.get(0));
    }
    Optional<byte[]> input =
        wrap.isPresent() || !rest.isEmpty() ? Optional.empty() : Optional.of(stdin.get());
    String script =
        wrap.isPresent() ? "wrap" : rest.isEmpty() ? "sbatch" : found(context, rest.get(0));
    String text = "";
    if (wrap.isEmpty()) {
      text =
          input.isPresent()
              ? new String(input.get(), StandardCharsets.UTF_8)
              : context.source().file(script).text();
      requireScript(script, text);
    }
    List<String> args = rest.isEmpty() ? rest : rest.subList(1, rest.size());
    List<SbatchWords.Word> variables = SbatchVariables.words(context.environment());
    SbatchHeader header = SbatchHeader.of(text, variables, words.subList(0, end));
    return new SbatchLine(script, args, input, wrap, header);
  }

  /**
   * Returns the values of the typed options that are not resources, by their long names.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if sbatch has no such option
   */
  public static Map<String, String> typed(List<String> words) {
    List<String> options = words.subList(0, SbatchHeader.countOptions(words));
    SbatchHeader header = SbatchHeader.of("", List.of(), options);
    for (SbatchHeader.Unread one : header.unread()) {
      if (one.isUnknown()) {
        throw Subcommand.invalid("sbatch: " + one.text() + ": " + one.reason(), one.step());
      }
    }
    return header.others();
  }

  /** Returns the script's path. sbatch looks here, and then in the folders of PATH. */
  private static String found(Context context, String name) {
    String path = ":" + context.environment().getOrDefault("PATH", "");
    for (String folder : (name.contains("/") ? "" : path).split(":", -1)) {
      Path file = Path.of(folder, name);
      if (Files.isReadable(file) && Files.isRegularFile(file)) {
        return file.toString();
      }
    }
    return Path.of(name).toAbsolutePath().toString(); // and not in the workspace or the jar
  }

  /** Throws if sbatch would not take the text for a script. */
  private static void requireScript(String name, String text) {
    if (ScriptConfig.interpreter(text).isEmpty() || text.contains("\r\n")) {
      throw Subcommand.invalid(
          name
              + ": expected a batch script: #! and an interpreter in the first line, and no line"
              + " ends of Windows",
          "write #!/bin/sh in the first line; sed -i 's/\\r$//' repairs the line ends");
    }
  }
}
