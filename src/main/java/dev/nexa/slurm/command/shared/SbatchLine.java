package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.job.config.foreign.SbatchHeader;
import dev.nexa.slurm.job.config.foreign.SbatchVariables;
import dev.nexa.slurm.job.config.foreign.ScriptConfig;
import dev.nexa.slurm.run.Context;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A command line of sbatch: {@code submit --as-sbatch OPTIONS [SCRIPT ARGS]}.
 *
 * @param options its options
 * @param script the script's path, or the name that sbatch gives to what is no file
 * @param args the script's arguments
 * @param input the script that came on standard input; empty for a file and for {@code --wrap}
 * @param wrap the command of {@code --wrap}, which is typed in place of a script
 */
public record SbatchLine(
    List<String> options,
    String script,
    List<String> args,
    Optional<byte[]> input,
    Optional<String> wrap) {
  /** The options that say what sbatch itself does. */
  static final Set<String> OWN =
      Set.of(
          ("--parsable --quiet --verbose --wait --wrap --test-only --dependency --help --usage"
                  + " --version --ignore-pbs")
              .split(" ", -1));

  /**
   * Takes the words apart.
   *
   * @param input reads standard input
   * @throws dev.nexa.slurm.base.error.NexaException if {@code --wrap} has arguments
   */
  static SbatchLine of(Context context, List<String> words, Supplier<byte[]> input) {
    int end = SbatchHeader.countOptions(words);
    List<String> options = words.subList(0, end);
    List<String> rest = words.subList(end, words.size());
    Optional<String> wrap = Optional.ofNullable(typed(words).get("--wrap"));
    if (wrap.isPresent() && !rest.isEmpty()) {
      throw Subcommand.conflict(
          "'" + rest.get(0) + "': a command in --wrap takes no script and no arguments",
          "write the arguments into the command");
    }
    if (rest.isEmpty()) {
      Optional<byte[]> text = wrap.isPresent() ? Optional.empty() : Optional.of(input.get());
      return new SbatchLine(options, text.isPresent() ? "sbatch" : "wrap", List.of(), text, wrap);
    }
    List<String> args = rest.subList(1, rest.size());
    String script = found(context, rest.get(0));
    return new SbatchLine(options, script, args, Optional.empty(), Optional.empty());
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
    return values(header);
  }

  /** Returns the script's path. sbatch looks here, and then in the folders of PATH. */
  private static String found(Context context, String name) {
    if (Files.exists(Path.of(name))) {
      return name;
    }
    if (!name.contains("/")) {
      for (String folder :
          context.environment().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
        if (Files.isReadable(Path.of(folder, name))) {
          return Path.of(folder, name).toString();
        }
      }
    }
    return Path.of(name).toAbsolutePath().toString(); // and not in the workspace or the jar
  }

  /** Returns the values of all options that are not resources, by their long names. */
  public Map<String, String> values(Context context) {
    String text =
        wrap.isPresent()
            ? ""
            : input.isPresent()
                ? new String(input.get(), StandardCharsets.UTF_8)
                : context.source().file(script).text();
    return values(SbatchHeader.of(text, SbatchVariables.words(context.environment()), options));
  }

  private static Map<String, String> values(SbatchHeader header) {
    Map<String, String> values = new HashMap<>();
    header.unread().forEach(one -> values.put(one.name(), one.value()));
    return values;
  }

  /** Throws if sbatch would not take the text for a script. */
  void requireScript(String name, String text) {
    if (ScriptConfig.interpreter(text).isEmpty()) {
      throw Subcommand.invalid(
          name + ": expected #! and the path of an interpreter in the first line of a batch script",
          "write #!/bin/sh in the first line");
    }
    if (text.contains("\r\n")) {
      throw Subcommand.invalid(
          name + " has the line ends of Windows, and sbatch takes no such script",
          "sed -i 's/\\r$//' " + name);
    }
  }
}
