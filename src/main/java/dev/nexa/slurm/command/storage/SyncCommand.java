package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.command.shared.CommandGroup;

/** The command {@code nexa-slurm sync}. */
public final class SyncCommand extends CommandGroup {
  /** Makes the command with its subcommands. */
  public SyncCommand() {
    super(
        "sync",
        "Copies the durable files to S3 and back: whole, checked, or not at all.",
        "give a step: `sync plan`, `sync push`, `sync pull`, `sync verify`, `sync abort-leftovers`,"
            + " `sync mirror`",
        "nexa-slurm sync plan",
        "nexa-slurm sync push",
        "nexa-slurm sync pull s3://nexacompute/checkpoints /mnt/nexa_durable/checkpoints");
    for (SyncStepCommand.Step step : SyncStepCommand.Step.values()) {
      subcommands(new SyncStepCommand(step));
    }
    subcommands(new AbortLeftoversCommand(), new MirrorCommand());
  }
}
