package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.score.JudgeSettings;
import dev.nexa.slurm.data.score.JudgeStep;
import java.nio.file.Path;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data judge}. */
final class JudgeCommand extends DataStepCommand {
  private final OptionSpec input = input();

  JudgeCommand() {
    super(
        true,
        "judge",
        "Turns rows into requests to a judge, which scores them by rubrics.",
        "nexa-slurm data judge --settings judge-settings.json --input generated --output judge");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
    requireAll(share);
    requireKnown(
        settings,
        "model",
        "rubrics",
        "own_rubrics",
        "scale",
        "guided",
        "max_tokens",
        "columns",
        "sample",
        "seed",
        "rows_per_file");
    return JudgeStep.run(engine, input.getValue(), output, JudgeSettings.of(settings));
  }
}
