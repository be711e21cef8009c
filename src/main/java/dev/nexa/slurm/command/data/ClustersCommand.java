package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.prepare.ClustersStep;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data clusters}. */
final class ClustersCommand extends DataStepCommand {
  private final OptionSpec input = input();

  ClustersCommand() {
    super(
        false,
        "clusters",
        "Joins the pairs of `data buckets` to clusters and names each row but the first of a cluster.",
        "nexa-slurm data clusters --input pairs --output clusters");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
    requireAll(share);
    requireKnown(settings);
    return new ClustersStep(engine).run(input.getValue(), output);
  }
}
