package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.Collect;
import dev.nexa.slurm.data.collect.CollectStep;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data collect}. */
final class CollectCommand extends DataStepCommand {
  private final OptionSpec requests =
      paths("--requests", true, "A file of the batch's requests; may be given often.");
  private final OptionSpec answers =
      paths("--answers", true, "A file of the batch's answers; may be given often.");
  private Optional<Runnable> check = Optional.empty();

  CollectCommand() {
    super(
        false,
        "collect",
        "Matches a batch's answers with its requests and writes rows, and the missing requests.",
        "nexa-slurm data collect --requests requests.jsonl --answers out.jsonl --output generated");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
    requireAll(share);
    requireKnown(settings, "truncated", "max_lost");
    Collect.Options options = CollectStep.options(settings);
    Collect.Result result =
        CollectStep.run(engine, requests.getValue(), answers.getValue(), output, options);
    check = Optional.of(() -> result.require(options, output));
    return result.metrics();
  }

  @Override
  void require() {
    check.ifPresent(Runnable::run);
  }
}
