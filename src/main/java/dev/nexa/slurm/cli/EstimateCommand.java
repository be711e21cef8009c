package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Prepared;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.report.EstimateText;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code nexa-slurm estimate}. */
@Command(
    name = "estimate",
    mixinStandardHelpOptions = true,
    description = "Says what a run can cost at most, and submits nothing.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  nexa-slurm estimate configs/train/science.yaml",
      "  nexa-slurm estimate configs/train/science.yaml --set resources.time=2h --json"
    })
final class EstimateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private ConfigOptions config;

  @Option(names = "--json", description = "Prints one JSON document.")
  private boolean json;

  @Override
  public Integer call() {
    Prepared prepared = Prepared.of(RootCommand.of(spec).nexa(), config.request());
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.print(Json.pretty(prepared.estimateJson()));
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
