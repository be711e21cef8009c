package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.gate.GateSettings;
import dev.nexa.slurm.data.gate.GateStep;
import dev.nexa.slurm.data.gate.Verdict;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data gate}. */
final class GateCommand extends DataStepCommand {
  private final OptionSpec candidate =
      add(
          OptionSpec.builder("--candidate").paramLabel("PATH").type(String.class).required(true),
          "The evaluation to decide on: a folder of `data score`, items, or a summary.");
  private final OptionSpec baseline =
      option("--baseline", "PATH", "The evaluation to compare with, of the same items.");
  private Optional<Runnable> check = Optional.empty();

  GateCommand() {
    super(
        true,
        "gate",
        "Decides whether an evaluation is good enough, and no worse than a baseline. Exit status 6: it is not.",
        "nexa-slurm data gate --settings gate-settings.json --candidate evals/science_eval_v2.parquet --baseline evals/science_eval_v1.parquet --output gate");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
    requireAll(share);
    requireKnown(settings, "rules", "id", "alpha", "seed", "resamples", "max_missing", "min_items");
    for (JsonObject rule : settings.objects("rules")) {
      requireKnown(
          rule, "metric", "at_least", "at_most", "no_worse", "minimum_effect", "on", "better");
    }
    Optional<String> other = Optional.ofNullable(baseline.getValue());
    Verdict verdict =
        GateStep.run(engine, candidate.getValue(), other, output, GateSettings.of(settings));
    check = Optional.of(() -> verdict.require(output.resolve(GateStep.VERDICT)));
    return GateStep.metrics(verdict, candidate.getValue(), other);
  }

  @Override
  void require() {
    check.ifPresent(Runnable::run);
  }
}
