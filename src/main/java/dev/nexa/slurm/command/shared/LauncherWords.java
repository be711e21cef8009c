package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A script that was typed with the program that starts it, as in {@code submit python train.py},
 * and the command to type instead.
 */
final class LauncherWords {
  private static final Set<String> LAUNCHERS =
      Set.of(
          ("python bash sh torchrun accelerate deepspeed srun sbatch salloc mpirun mpiexec uv conda"
                  + " poetry env exec nohup time")
              .split(" ", -1));

  private LauncherWords() {}

  /**
   * Returns the error for a launcher in place of a config; empty if the words begin otherwise.
   *
   * @param spec the command that was typed
   * @param args all words of the command line
   */
  static Optional<NexaException> refusal(CommandSpec spec, List<String> args) {
    List<String> words = new ArrayList<>(args.subList(args.indexOf(spec.name()) + 1, args.size()));
    int launcher = firstParameter(spec, words);
    String program = launcher < 0 ? "" : words.get(launcher);
    boolean known = LAUNCHERS.contains(program) || program.matches("python3?(\\.\\d+)?");
    if (!known || Files.exists(Path.of(program))) {
      return Optional.empty();
    }
    int script = script(words, launcher);
    return Optional.of(
        Subcommand.conflict(
            "'" + program + "' is neither a config nor a script; nexa-slurm starts a script itself",
            script < 0
                ? withoutScript(spec, program, words)
                : "Leave out " + program + ": " + command(spec, words, launcher, script)));
  }

  /** Returns the place of the first word that is neither an option nor its value; -1 if none is. */
  private static int firstParameter(CommandSpec spec, List<String> words) {
    for (int i = 0; i < words.size(); i++) {
      if (!words.get(i).startsWith("-")) {
        return i;
      }
      OptionSpec option = spec.findOption(words.get(i));
      i += option != null && option.arity().max() > 0 ? 1 : 0;
    }
    return -1;
  }

  /** Returns the place of the first script after the launcher; -1 if there is none. */
  private static int script(List<String> words, int launcher) {
    for (int i = launcher + 1; i < words.size(); i++) {
      if (FromScript.hasScriptName(words.get(i))) {
        return i;
      }
    }
    return -1;
  }

  private static String withoutScript(CommandSpec spec, String program, List<String> words) {
    int module = words.indexOf("-m");
    return module >= 0 && module + 1 < words.size()
        ? "Write a config with backend: python and entrypoint: {module: %s}"
            .formatted(words.get(module + 1))
        : "Write the command into a script, and name the script instead of %s: %s job.sh"
            .formatted(program, spec.qualifiedName());
  }

  /** Returns the same command without the launcher, with our options for the launcher's. */
  private static String command(CommandSpec spec, List<String> words, int launcher, int script) {
    List<Object> typed = new ArrayList<>(List.of("nexa-slurm", spec.name()));
    List<String> options = new ArrayList<>(words.subList(0, launcher));
    options.addAll(words.subList(launcher + 1, script));
    for (int i = 0; i < options.size(); i++) {
      String[] option = options.get(i).split("=", 2);
      // The launchers' options that say how many processes and nodes.
      String ours =
          switch (option[0].replace('-', '_').replaceFirst("^__", "--")) {
            case "--nproc_per_node", "--nproc", "--num_processes" -> "--gpus";
            case "--num_gpus", "--gpus_per_node" -> "--gpus";
            case "--nnodes", "--num_nodes", "--num_machines" -> "--nodes";
            default -> option[0];
          };
      OptionSpec known = spec.findOption(ours);
      if (known == null || typed.contains(ours)) {
        continue;
      }
      typed.add(ours);
      if (option.length == 2) {
        typed.add(option[1]);
      } else if (known.arity().max() > 0 && i + 1 < options.size()) {
        typed.add(options.get(++i));
      }
    }
    typed.add(words.get(script));
    List<String> rest = words.subList(script + 1, words.size());
    if (!rest.isEmpty() && !rest.contains("--")) {
      typed.add("--");
    }
    typed.addAll(rest);
    return Advice.command("", typed.toArray()).toString();
  }
}
