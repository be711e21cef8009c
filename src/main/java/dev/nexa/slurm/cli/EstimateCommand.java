package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.Prepared;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.report.EstimateText;
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
    Nexa nexa = nexa();
    Prepared prepared = Prepared.of(nexa, config.request());
    tellNotes(prepared.plan());
    PrintWriter out = out();
    if (given(json)) {
      out.print(Json.pretty(prepared.estimateJson(nexa)));
    } else {
      out.print(
          EstimateText.of(
              prepared.plan(),
              prepared.estimate(),
              prepared.policy().approvalOver(),
              prepared.needsApproval()));
    }
    return ExitCode.OK.status();
  }
}
