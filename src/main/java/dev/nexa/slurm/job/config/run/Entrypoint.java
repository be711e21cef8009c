package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.List;
import java.util.Optional;

/**
 * The program that the python backend starts: a script or a module.
 *
 * @param config whether the program gets the training keys as a JSON file
 * @param launcher {@code python} or {@code torchrun}; empty for the default
 * @param launcherArgs further options of torchrun
 */
public record Entrypoint(
    Optional<String> script,
    Optional<String> module,
    List<String> args,
    boolean config,
    Optional<String> launcher,
    List<String> launcherArgs) {

  /** Returns whether torchrun starts the ranks, if the job has GPUs or several nodes. */
  public boolean torchrun() {
    return launcher.orElse("torchrun").equals("torchrun");
  }

  /** The keys of the section. */
  static final Section KEYS =
      section(
          optional("script", ValueType.PATH, "A program beside this file. The run keeps a copy."),
          optional("module", ValueType.TEXT, "An installed Python module, run with -m."),
          optional(
              "args",
              listOf(ValueType.LITERAL),
              "Arguments of the program, each passed on unchanged."),
          optional(
              "config",
              ValueType.BOOLEAN,
              "Whether the program gets `--config FILE` with the training keys as JSON. Default: true."),
          optional(
              "launcher",
              ValueType.choice("python", "torchrun"),
              "The launcher that starts the program. Default: torchrun with GPUs or several nodes, else python."),
          optional(
              "launcher_args",
              listOf(ValueType.LITERAL),
              "Further options of torchrun, such as `--max_restarts=2`."));

  static Entrypoint from(Values values) {
    return new Entrypoint(
        values.optionalText("script"),
        values.optionalText("module"),
        values.texts("args"),
        values.optional("config", Boolean.class).orElse(true),
        values.optionalText("launcher"),
        values.texts("launcher_args"));
  }

  /** Adds problems that concern several keys. */
  static void check(Values values) {
    Values entrypoint = values.section("entrypoint");
    if (values.has("entrypoint") && entrypoint.has("script") == entrypoint.has("module")) {
      values.report("entrypoint", "needs either script or module");
    }
  }
}
