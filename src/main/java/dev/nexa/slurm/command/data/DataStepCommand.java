package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.JsonStream;
import dev.nexa.slurm.base.program.OwnProgram;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.job.config.steps.DataStage;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/**
 * One step of a data stage: reads its settings, opens DuckDB within the job's limits, and writes
 * the counts to {@code NEXA_METRICS}. A job calls it; a person can call it too.
 */
abstract class DataStepCommand extends Subcommand {
  /**
   * Ends the command with an error if what {@link #run} wrote is not good enough. The metrics are
   * written before. Most steps only count.
   */
  Runnable check = () -> {};

  private final OptionSpec settings;
  private final OptionSpec output =
      add(
          OptionSpec.builder("--output").paramLabel("DIR").type(String.class).required(true),
          "The folder to write to.");

  /**
   * Makes the command.
   *
   * @param needsSettings whether the step has settings without a default
   */
  DataStepCommand(boolean needsSettings, String name, String description, String... examples) {
    super(name, description, examples);
    settings =
        add(
            OptionSpec.builder("--settings")
                .paramLabel("FILE")
                .type(String.class)
                .required(needsSettings),
            "The step's settings as JSON, with the keys of the config's section `data.STEP`."
                + (needsSettings ? "" : " Without it, each setting has its default."));
  }

  /** Adds the option for the files that the step reads. */
  final OptionSpec input() {
    return paths("--input", true, "A file, a pattern or a folder to read; may be given often.");
  }

  /** Adds an option that may be given often. */
  final OptionSpec paths(String name, boolean required, String description) {
    return add(
        OptionSpec.builder(name)
            .paramLabel("PATH")
            .type(List.class)
            .auxiliaryTypes(String.class)
            .initialValue(new ArrayList<>())
            .required(required),
        description);
  }

  /**
   * Does the step's work.
   *
   * @return what the run's metrics get
   */
  abstract JsonObject run(Engine engine, JsonObject settings, Share share, Path output);

  /**
   * Checks the names of settings, which a person may have typed.
   *
   * @throws IllegalArgumentException if there is another key; the message names the nearest one
   */
  static void requireKnown(JsonObject settings, List<String> known) {
    for (String key : settings.members().keySet()) {
      if (!known.contains(key)) {
        throw new IllegalArgumentException(
            "unknown key \"" + key + "\"" + Nearest.hint(key, known));
      }
    }
  }

  /** Refuses a share of the rows, for steps that need all of them. */
  final void requireAll(Share share) {
    if (!share.all()) {
      throw ErrorCode.CONFIG_CONFLICT.error(
          "data %s sees all rows at once, so it needs one task, not %s"
              .formatted(spec().name(), share.tasks()),
          "leave out array.shards");
    }
  }

  @Override
  public final Integer call() {
    Map<String, String> environment = environment();
    Optional<Path> file = value(settings).map(Path::of);
    JsonObject metrics;
    try (Engine engine = Engine.open(Limits.of(environment))) {
      JsonObject written = file.map(DataStepCommand::read).orElseGet(JsonObject::new);
      requireKnown(written, DataStage.settings(spec().name()));
      JsonObject values = DataStage.withDefaults(spec().name(), written);
      metrics = run(engine, values, share(environment), Path.of(output.<String>getValue()));
    } catch (IllegalArgumentException broken) {
      throw invalid(file, broken);
    }
    keep(metrics);
    print(metrics);
    out().flush();
    check.run();
    return ExitCode.OK.status();
  }

  /** Adds the program's digest and writes what the run's metrics get, if a job runs the command. */
  final void keep(JsonObject metrics) {
    metrics.with("program_sha256", OwnProgram.files().get(0).sha256());
    String kept = environment().getOrDefault("NEXA_METRICS", "");
    if (!kept.isEmpty()) {
      DurableFiles.onDisk().replace(Path.of(kept), Json.compact(metrics) + "\n");
    }
  }

  private static JsonObject read(Path settings) {
    if (!Files.isRegularFile(settings)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "--settings: there is no file " + settings, "name a JSON file with the step's keys");
    }
    String text = DurableFiles.read(settings);
    try {
      return Json.parseObject(text);
    } catch (IllegalArgumentException broken) {
      // The second reading names the line.
      JsonStream.read(new StringReader(text), "", (element, line) -> {});
      throw broken;
    }
  }

  private static NexaException invalid(Optional<Path> file, IllegalArgumentException broken) {
    return ErrorCode.DATA_INVALID.error(
        file.map(it -> it + ": ").orElse("without --settings: ") + broken.getMessage(),
        broken,
        Advice.step(
            "`nexa-slurm explain docs/data.md`, `nexa-slurm explain docs/generate.md` and `nexa-slurm explain docs/evaluation.md` have the keys"));
  }

  /** Returns a folder of the durable tier, if a job runs the command. */
  final Optional<Path> durable(String folder) {
    String tier = environment().getOrDefault("NEXA_DURABLE", "");
    return tier.isEmpty() ? Optional.empty() : Optional.of(Path.of(tier, folder));
  }

  /** Returns the rows of this task: {@code NEXA_TASK} of {@code NEXA_TASKS}; else all. */
  private static Share share(Map<String, String> environment) {
    int tasks = Integer.parseInt(environment.getOrDefault("NEXA_TASKS", "1"));
    return tasks == 1
        ? Share.ALL
        : new Share(Integer.parseInt(environment.getOrDefault("NEXA_TASK", "0")), tasks);
  }
}
