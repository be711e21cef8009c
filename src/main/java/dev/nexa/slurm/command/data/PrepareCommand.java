package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.prepare.Prepare;
import dev.nexa.slurm.data.prepare.PrepareSettings;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data prepare}. */
final class PrepareCommand extends DataStepCommand {
  private final OptionSpec input = input();
  private final OptionSpec against =
      paths(
          "--against", false, "An eval set that no row may contain parts of; may be given often.");

  private final OptionSpec clusters =
      paths(
          "--clusters",
          false,
          "The output of `data clusters`, for near duplicates in several tasks.");

  private final OptionSpec parts =
      paths(
          "--from-parts",
          false,
          "The output of `data prepare` with `parts: true`, which read the input.");

  PrepareCommand() {
    super(
        true,
        "prepare",
        "Turns raw files into a clean dataset: checks, normalises, removes duplicates, splits.",
        "nexa-slurm data prepare --settings prepare.json --input 'raw/*.jsonl.gz' --output clean");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
    try (ProgressBar progress = ProgressBar.of(this)) {
      return new Prepare(engine, PrepareSettings.of(settings), share, progress)
          .run(input.getValue(), against.getValue(), clusters.getValue(), parts.getValue(), output);
    }
  }
}
