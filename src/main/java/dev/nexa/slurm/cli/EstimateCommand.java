package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.ModelNumbers;
import dev.nexa.slurm.app.Prepared;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.EstimateText;
import dev.nexa.slurm.report.ModelText;
import java.io.PrintWriter;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm estimate}. */
final class EstimateCommand extends Subcommand {
  private final ConfigOptions config = new ConfigOptions(this);
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  EstimateCommand() {
    super(
        "estimate",
        "Says what a run can cost at most, and submits nothing.",
        "nexa-slurm estimate configs/train/science.yaml",
        "nexa-slurm estimate configs/train/science.yaml --set resources.time=2h --json");
  }

  @Override
  public Integer call() {
    Prepared prepared = Prepared.of(nexa(), config.request());
    tellNotes(prepared.plan());
    ModelNumbers numbers = ModelNumbers.calibrated(nexa(), prepared.plan());
    PrintWriter out = out();
    if (given(json)) {
      JsonObject estimate = prepared.estimateJson();
      numbers.addTo(estimate);
      out.print(Json.pretty(estimate));
    } else {
      out.print(
          EstimateText.of(
              prepared.plan(),
              prepared.estimate(),
              prepared.policy().approvalOver(),
              prepared.needsApproval()));
      out.print(ModelText.of(numbers.memory(), numbers.analytic()));
    }
    return ExitCode.OK.status();
  }
}
