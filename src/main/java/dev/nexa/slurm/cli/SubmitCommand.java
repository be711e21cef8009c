package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.SubmitRun;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm submit}. */
final class SubmitCommand extends Subcommand {
  private final ConfigOptions config = new ConfigOptions(this);
  private final OptionSpec dryRun =
      flag("--dry-run", "Prints the script and sbatch's arguments, and submits nothing.");
  private final OptionSpec dependency =
      option(
          "--dependency",
          "TYPE:RUN",
          "Waits for other runs: afterok, afterany, afternotok or aftercorr, as sbatch has it;"
              + " several by commas.");
  private final OptionSpec approval = approval();
  private final AfterSubmit after = new AfterSubmit(this);

  SubmitCommand() {
    super(
        "submit",
        "Says what a run can cost, and submits it exactly once.",
        "nexa-slurm submit configs/train/science.yaml",
        "nexa-slurm submit configs/train/science.yaml --set resources.nodes=2 --dry-run",
        "nexa-slurm submit configs/eval/harness.yaml --dependency afterok:latest",
        "nexa-slurm submit configs/data/quickstart.yaml --local --wait");
  }

  @Override
  public Integer call() {
    Nexa nexa = nexa();
    Optional<String> others = Optional.ofNullable(dependency.getValue());
    if (given(dryRun)) {
      return RenderCommand.print(nexa, config.request(), others, after.json(), out());
    }
    return after.report(
        nexa,
        new SubmitRun(nexa)
            .submit(config.request(), others, Optional.ofNullable(approval.getValue())));
  }
}
