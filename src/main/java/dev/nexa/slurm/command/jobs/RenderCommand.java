package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.shared.ConfigOptions;
import dev.nexa.slurm.command.shared.DryRun;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.RenderRun;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm render}. */
public final class RenderCommand extends Subcommand {
  private final ConfigOptions config = new ConfigOptions(this);
  private final OptionSpec files =
      flag("--files", "Prints the files beside the script too, each after a line that names it.");
  private final OptionSpec json =
      flag(
          "--json",
          "Prints one JSON document, with sbatch's arguments and the files beside the script.");

  public RenderCommand() {
    super(
        "render",
        "Prints the job script: the very bytes that submit would send.",
        "nexa-slurm render configs/train/science.yaml > job.sbatch",
        "nexa-slurm render configs/train/science.yaml --files",
        "nexa-slurm submit configs/train/science.yaml --dry-run    (the same, and sbatch's arguments)");
  }

  @Override
  public Integer call() {
    Context context = context();

    RenderRun.Rendered rendered = new RenderRun(context).render(config.request(context));
    if (given(json)) {
      return DryRun.print(rendered, true, given(files), out());
    }
    tellNotes(rendered.prepared().plan());
    print(rendered.script().text());
    if (given(files)) {
      DryRun.show(rendered, out());
    }
    return ExitCode.OK.status();
  }
}
