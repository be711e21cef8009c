package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.OwnProgram;
import dev.nexa.slurm.job.config.steps.DataStage;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;

/** {@code backend: data}: runs our own program, {@code nexa-slurm data STEP}, in each task. */
public final class DataBackend implements Backend {
  private static final String FILE = "data.json";

  /** A small heap: DuckDB's memory is native. {@code data.engine.Limits} leaves room for it. */
  private static final List<String> JVM =
      List.of("-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  @Override
  public String name() {
    return DataStage.BACKEND;
  }

  @Override
  public Launch launch(Plan plan) {
    if (plan.payload().data().isEmpty()) {
      throw plan.written().error("data", "missing; backend data needs it");
    }
    DataStage data = plan.payload().data().get();
    return new Launch(Launch.TASK, command(plan, data), List.of(settings(data.settings())));
  }

  /** Returns the file with a step's settings. */
  static RunnerFile settings(JsonObject settings) {
    return RunnerFile.text(FILE, Json.pretty(settings));
  }

  /** Returns the words that run a step. */
  static List<String> command(Plan plan, DataStage data) {
    List<String> command = new ArrayList<>();
    // Java can name files in any language only in a UTF-8 locale.
    command.addAll(List.of("env", "LC_ALL=C.UTF-8", plan.payload().program().orElseThrow().java()));
    command.addAll(JVM);
    command.addAll(List.of("-jar", "${nexa_program}/" + OwnProgram.JAR, "data", data.step()));
    command.addAll(List.of("--settings", "${run_dir}/runner/" + FILE));
    command.addAll(data.words());
    command.addAll(List.of("--output", "${output}"));
    return command;
  }
}
