package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.prepare.BucketsStep;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data buckets}. */
final class BucketsCommand extends DataStepCommand {
  private final OptionSpec input = input();

  BucketsCommand() {
    super(
        false,
        "buckets",
        "Finds the pairs of similar rows in the signatures that the tasks of `data prepare` wrote.",
        "nexa-slurm data buckets --input signatures --output pairs");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
    requireKnown(settings);
    return new BucketsStep(engine, share).run(input.getValue(), output);
  }
}
