package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.command.shared.CommandGroup;

/** The command {@code nexa-slurm release}. */
public final class ReleaseCommand extends CommandGroup {
  public ReleaseCommand() {
    super(
        "release",
        "Packages a run's model with its facts, lets people sign it, and puts it into production.",
        "expected what to do: `release package RUN`, `release sign NAME`, `release verify NAME`,"
            + " `release deploy NAME`, `release rollback`, `release show`, `release history` or"
            + " `release list`",
        "nexa-slurm release package latest",
        "nexa-slurm release sign train-demo_20251101_143200",
        "nexa-slurm release verify train-demo_20251101_143200",
        "nexa-slurm release deploy train-demo_20251101_143200",
        "nexa-slurm release rollback");
    subcommands(new PackageCommand(), new SignCommand(), new VerifyCommand(), new ListCommand());
    subcommands(new DeployCommand(), new RollbackCommand());
    subcommands(new ShowReleaseCommand(), new HistoryCommand());
  }
}
