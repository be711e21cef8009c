package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.shared.Software;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The environment of a task when its command starts.
 *
 * @param setup shell lines that the job runs before the command
 * @param workdir the folder where the command starts; empty for the template's choice
 */
public record Environment(
    Software software,
    Map<String, String> env,
    Optional<String> envFile,
    Optional<String> setup,
    Optional<String> workdir,
    boolean debug) {

  /** The variables of the storage tiers, whose values come from the cluster profile. */
  public static final List<String> TIERS = List.of("NEXA_SCRATCH", "NEXA_DURABLE", "NEXA_SHARED");

  /** Variables by their names. */
  static final Schema VARIABLES =
      mapOf(ValueType.text("a variable's name", "[A-Za-z_][A-Za-z0-9_]{0,127}"), ValueType.LITERAL);

  /** Returns the keys, in the order of the documentation. */
  static List<KnownKey> keys() {
    return List.of(
        optional(
            "software",
            Software.KEYS,
            "The software that the job loads before the command starts."),
        optional(
            "env",
            VARIABLES,
            "Environment variables of the job. Write secrets into env_file instead."),
        optional(
            "env_file",
            ValueType.PATH,
            "The absolute path of a file with your secrets, in lines NAME=value, mode 0600. The job reads the"
                + " file itself."),
        optional(
            "setup",
            ValueType.SCRIPT,
            "Shell lines that the job runs after modules and venv and before the command, unchanged."),
        optional(
            "workdir",
            ValueType.PATH,
            "The command starts in this folder, an absolute path. Default: the task's scratch, or with a"
                + " launcher the run's folder."),
        withDefault(
            "debug",
            ValueType.BOOLEAN,
            "false",
            "Makes NCCL and PyTorch print their steps, to find out why ranks hang. This slows training."));
  }

  static Environment from(Values values) {
    return new Environment(
        Software.from(values.section("software")),
        values.textMap("env"),
        values.optionalText("env_file"),
        values.optionalText("setup"),
        values.optionalText("workdir"),
        values.flag("debug"));
  }

  /**
   * Returns a copy with what the cluster's profile sets, where the config does not set it. The
   * tiers' variables are left out, because the profile gives their paths.
   */
  public Environment over(Software clusters, Map<String, String> variables) {
    Map<String, String> all = new LinkedHashMap<>(variables);
    all.putAll(env);
    all.keySet().removeAll(TIERS);
    return new Environment(software.over(clusters), all, envFile, setup, workdir, debug);
  }

  /** Adds problems of the names of variables. */
  static void checkNames(Values env) {
    for (String name : env.names()) {
      if (name.startsWith("NEXA_") && !TIERS.contains(name)) {
        env.report(name, "names that begin with NEXA_ are the job script's own");
      }
    }
  }

  /** Returns a copy with more variables, which win. */
  Environment with(Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>(env);
    all.putAll(more);
    return new Environment(software, all, envFile, setup, workdir, debug);
  }

  /** Adds problems that concern several keys. */
  static void check(Values values) {
    checkNames(values.section("env"));
    values.requireAbsolute("env_file");
    values.requireAbsolute("workdir");
    Software.check(values.section("software"));
  }
}
