package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.command.shared.Subcommand;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm release}. */
public final class ReleaseCommand extends Subcommand {
  public ReleaseCommand() {
    super(
        "release",
        "Packages a run's model with its facts, and lets people sign it.",
        "nexa-slurm release package latest",
        "nexa-slurm release sign train-demo_20251101_143200",
        "nexa-slurm release verify train-demo_20251101_143200",
        "nexa-slurm release deploy train-demo_20251101_143200",
        "nexa-slurm release rollback");
    spec().addSubcommand("deploy", new DeployCommand().spec());
    spec().addSubcommand("rollback", new RollbackCommand().spec());
    spec().addSubcommand("history", new HistoryCommand().spec());
    spec().addSubcommand("show", new ShowReleaseCommand().spec());
  }

  @Override
  public Integer call() {
    throw new ParameterException(
        spec().commandLine(),
        "expected what to do: `release package RUN`, `release sign NAME`, `release verify NAME` or"
            + " `release list`");
  }
}
