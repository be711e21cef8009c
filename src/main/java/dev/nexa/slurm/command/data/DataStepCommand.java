package dev.nexa.slurm.command.data;

import com.sun.management.OperatingSystemMXBean;
import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Share;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.OptionSpec;

/**
 * One step of a data stage: reads its settings, opens DuckDB within the job's limits, and writes
 * the counts to {@code NEXA_METRICS}. A job calls it; a person can call it too.
 */
abstract class DataStepCommand extends Subcommand {
  private final OptionSpec settings =
      add(
          OptionSpec.builder("--settings").paramLabel("FILE").type(String.class).required(true),
          "The step's settings as JSON, with the keys of the config's section `data.STEP`.");
  private final OptionSpec input =
      paths("--input", true, "A file, a pattern or a folder to read; may be given often.");
  private final OptionSpec output =
      add(
          OptionSpec.builder("--output").paramLabel("DIR").type(String.class).required(true),
          "The folder to write to.");

  DataStepCommand(String name, String description, String... examples) {
    super(name, description, examples);
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
  abstract JsonObject run(
      Engine engine, JsonObject settings, Share share, List<String> input, Path output);

  @Override
  public final Integer call() {
    Map<String, String> environment = environment();
    Path file = Path.of(settings.<String>getValue());
    JsonObject values;
    try {
      values = Json.parseObject(DurableFiles.read(file));
    } catch (IllegalArgumentException broken) {
      throw invalid(file, broken);
    }
    JsonObject metrics;
    try (Engine engine = Engine.open(limits(environment))) {
      metrics =
          run(
              engine,
              values,
              share(environment),
              input.getValue(),
              Path.of(output.<String>getValue()));
    } catch (IllegalArgumentException broken) {
      throw invalid(file, broken);
    }
    String kept = environment.getOrDefault("NEXA_METRICS", "");
    if (!kept.isEmpty()) {
      DurableFiles.onDisk().replace(Path.of(kept), Json.compact(metrics) + "\n");
    }
    out().print(Json.pretty(metrics));
    return ExitCode.OK.status();
  }

  private static NexaException invalid(Path file, IllegalArgumentException broken) {
    return new NexaException(
        ErrorCode.DATA_INVALID,
        file + ": " + broken.getMessage(),
        broken,
        Advice.step("docs/data.md has the keys"));
  }

  private static Limits limits(Map<String, String> environment) {
    OperatingSystemMXBean machine =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return Limits.of(
        environment,
        machine.getTotalMemorySize(),
        Runtime.getRuntime().availableProcessors(),
        Path.of(System.getProperty("java.io.tmpdir", "/tmp")));
  }

  /** Returns the rows of this task: {@code NEXA_TASK} of {@code NEXA_TASKS}; else all. */
  private static Share share(Map<String, String> environment) {
    int tasks = Integer.parseInt(environment.getOrDefault("NEXA_TASKS", "1"));
    return tasks == 1
        ? Share.ALL
        : new Share(Integer.parseInt(environment.getOrDefault("NEXA_TASK", "0")), tasks);
  }
}
