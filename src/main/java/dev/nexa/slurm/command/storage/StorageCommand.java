package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.command.shared.CommandGroup;

/** The command {@code nexa-slurm storage}. */
public final class StorageCommand extends CommandGroup {
  public StorageCommand() {
    super(
        "storage",
        "Makes the folders of the storage tiers, and shows what lies on them.",
        "`storage init` or `storage status`",
        "nexa-slurm storage init",
        "nexa-slurm storage status --by run");
    subcommands(new StorageInitCommand(), new StorageStatusCommand());
  }
}
