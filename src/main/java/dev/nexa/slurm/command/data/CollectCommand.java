package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.Collect;
import dev.nexa.slurm.data.collect.CollectSettings;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data collect}. */
final class CollectCommand extends DataStepCommand {
  private final OptionSpec answers =
      paths(
          "--answers",
          true,
          "An output file of the batch, a pattern or a folder; may be given often.");

  CollectCommand() {
    super(
        "collect",
        "Matches the answers of a batch with its requests (--input), and writes what is missing as new requests.",
        "nexa-slurm data collect --settings collect.json --input 'requests-*.jsonl' --answers 'out-*.jsonl' --output generated");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, List<String> input, Path output) {
    return new Collect(engine, CollectSettings.of(settings), share)
        .run(input, answers.getValue(), output);
  }
}
