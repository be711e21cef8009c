package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.later;
import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Groups.Group;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.steps.DataStage;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.List;
import java.util.Optional;

/**
 * The work of a task.
 *
 * @param run the bash text of a shell run
 * @param options the runner's own options
 * @param optionsFile the runner's own config file, unchanged
 * @param files the files that the run keeps, by their paths beside the config
 * @param code the working tree that the job runs; empty if the key {@code code} is missing
 * @param data the step of a data stage; empty if the key {@code data} is missing
 * @param sync the copy of a sync stage; empty if the key {@code sync} is missing
 * @param groups the groups of a heterogeneous job; empty for any other
 */
public record Work(
    Optional<String> run,
    Optional<Entrypoint> entrypoint,
    JsonObject options,
    Optional<NativeOptions> optionsFile,
    List<String> files,
    Optional<Code> code,
    Optional<DataStage> data,
    Optional<SyncStage> sync,
    List<Group> groups) {

  /** Returns the keys, in the order of the documentation. */
  static List<KnownKey> keys() {
    return List.of(
        optional(
            "run", ValueType.SCRIPT, "For `shell`: the bash text that each task runs, unchanged."),
        optional(
            "entrypoint",
            Entrypoint.KEYS,
            "For `python`: the program to start. It gets `options` as flags, `--name value`, after its own"
                + " arguments."),
        optional(
            "files",
            listOf(ValueType.PATH),
            "Files beside this file that the job needs. The run keeps them in runner/."),
        optional(
            "options",
            new Schema.Free(),
            "The runner's own options, under the runner's names. They win over the values from the other keys."),
        optional(
            "options_file",
            ValueType.PATH,
            "The runner's own config file, beside this file: Axolotl's, TRL's or Accelerate's. This file's keys"
                + " and options win over it."),
        later(
            "code",
            () -> Code.KEYS,
            "Packs the working tree of git at the submit, and unpacks it for each attempt of a task. `{}` takes"
                + " all defaults (`nexa-slurm explain docs/code.md`)."),
        later(
            "data",
            () -> DataStage.KEYS,
            "For `data`: the step that nexa-slurm's own program does, exactly one (`nexa-slurm explain docs/data.md`). For `vllm`: generate"
                + " (`nexa-slurm explain docs/generate.md`)."),
        later(
            "sync",
            () -> SyncStage.KEYS,
            "For `sync`: the folder that the job copies to S3 (`nexa-slurm explain docs/sync.md#in-a-job`)."),
        optional(
            Groups.KEY,
            mapOf(
                ValueType.count("a name such as trainer", "[a-z][a-z0-9_-]{0,31}"),
                section(
                    optional("resources", section(Resources.keys()), "The resources of the group."),
                    optional(
                        "run",
                        ValueType.SCRIPT,
                        "The bash text that the group runs: the first group once on its first node, any other once on"
                            + " each of its nodes."),
                    optional(
                        "env",
                        Environment.VARIABLES,
                        "Variables of this group, over the config's."))),
            "For `shell`: the groups of one heterogeneous job, by name, in place of `run` and `resources`"
                + " (`nexa-slurm explain docs/groups.md`)."));
  }

  static Work from(Values values, Optional<NativeOptions> optionsFile) {
    return new Work(
        values.optionalText("run"),
        values.has("entrypoint")
            ? Optional.of(Entrypoint.from(values.section("entrypoint")))
            : Optional.empty(),
        values.section("options").json(),
        optionsFile,
        values.texts("files"),
        values.has("code") ? Optional.of(Code.from(values.section("code"))) : Optional.empty(),
        values.has("data") ? Optional.of(DataStage.from(values.section("data"))) : Optional.empty(),
        values.has("sync") ? Optional.of(SyncStage.from(values.section("sync"))) : Optional.empty(),
        values.has(Groups.KEY) ? Groups.of(values) : List.of());
  }

  /** Returns the work of one group. */
  Work of(Group group) {
    return new Work(
        group.run(), entrypoint, options, optionsFile, files, code, data, sync, List.of());
  }

  /** Adds problems of a file whose stage and backend are right. */
  static void check(Values values) {
    misplaced(values);
    if (values.has(Groups.KEY)) {
      Groups.check(values);
    }
    // Checked here, so that DataStage is loaded only for a config that needs it.
    if (values.has("data") || values.optionalText("backend").orElse("").equals("data")) {
      DataStage.check(values);
    }
    if (values.has("sync") || values.optionalText("backend").orElse("").equals("sync")) {
      SyncStage.check(values);
    }
  }

  /** Refuses what the backend would not run. A plugin may read any key. */
  private static void misplaced(Values values) {
    String backend = values.optionalText("backend").orElse("");
    boolean programs = List.of("python", "accelerate", "acc").contains(backend);
    boolean runners = List.of("hf", "axolotl", "ax", "vllm", "lm_eval").contains(backend);
    if (values.has("run") && (programs || runners)) {
      values.report("run", "is for backend shell; " + backend + " does not run it");
    }
    if (values.has("entrypoint") && (runners || backend.equals("shell"))) {
      values.report(
          "entrypoint", "is for python and accelerate; " + backend + " does not start it");
    }
    Values entrypoint = values.section("entrypoint");
    for (String key : List.of("launcher", "launcher_args")) {
      if (entrypoint.has(key) && backend.startsWith("acc")) {
        entrypoint.report(key, "accelerate launch starts the program; leave it out");
      }
    }
  }
}
