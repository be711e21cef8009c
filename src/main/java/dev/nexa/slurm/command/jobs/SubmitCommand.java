package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.command.shared.AfterSubmit;
import dev.nexa.slurm.command.shared.ConfigOptions;
import dev.nexa.slurm.command.shared.DryRun;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.RenderRun;
import dev.nexa.slurm.run.start.SubmitRun;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm submit}. */
public final class SubmitCommand extends Subcommand {
  private final ConfigOptions config = new ConfigOptions(this);
  private final OptionSpec dryRun =
      flag("--dry-run", "Prints the script and sbatch's arguments, and submits nothing.");
  private final OptionSpec files =
      flag("--files", "With --dry-run: prints the files beside the script too.");
  private final OptionSpec dependency =
      option(
          "--dependency TYPE:RUN",
          "Waits for other runs, as sbatch's option waits for jobs: afterok, afterany, afternotok or"
              + " aftercorr; separate several by commas.");
  private final OptionSpec approval = approval();
  private final OptionSpec asSbatch =
      flag(
          "--as-sbatch",
          "Reads all that follows as sbatch does: its options, then --wrap COMMAND, or SCRIPT and its"
              + " arguments, or the script on standard input; prints and returns what sbatch does.");
  private final AfterSubmit after = new AfterSubmit(this);

  public SubmitCommand() {
    super(
        "submit",
        "Estimates the cost of a run, and submits the run exactly once.",
        "nexa-slurm submit configs/train/science.yaml",
        "nexa-slurm submit train.py --gpus 1 --time 2h -- --epochs 3",
        "nexa-slurm submit configs/train/science.yaml --set resources.nodes=2 --dry-run",
        "nexa-slurm submit configs/eval/harness.yaml --dependency afterok:latest",
        "nexa-slurm submit configs/data/quickstart.yaml --local --wait",
        "nexa-slurm submit --as-sbatch -n 4 -t 10 --parsable job.sh");
  }

  @Override
  public Integer call() {
    Optional<String> others = value(dependency);
    if (given(asSbatch)) {
      if (!config.typed().equals("sbatch") || after.json() || others.isPresent()) {
        throw conflict(
            "--as-sbatch takes no CONFIG, no --dependency and no --json before it",
            "type sbatch's options and the script behind --as-sbatch");
      }
      return new AsSbatch(this, config, after).call(this::forRuns, value(approval), given(dryRun));
    }
    if (given(files) && !given(dryRun)) {
      throw conflict(
          "--files: submit prints no files", "add --dry-run, or nexa-slurm render CONFIG --files");
    }
    if (given(dryRun)) {
      Context here = context();
      RenderRun.Rendered rendered =
          new RenderRun(here).forSubmit(config.request(here), others, value(approval));
      tellAccount(here, rendered.prepared().plan());
      return DryRun.print(rendered, after.json(), given(files), out());
    }
    Context context = forRuns();
    return after.report(
        context,
        () -> new SubmitRun(context).submit(config.request(context), others, value(approval)));
  }
}
