package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.command.shared.Subcommand;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm storage}. */
public final class StorageCommand extends Subcommand {
  public StorageCommand() {
    super(
        "storage",
        "Makes the folders of the storage tiers, and shows what lies on them.",
        "nexa-slurm storage init",
        "nexa-slurm storage status --by run");
    spec().addSubcommand("init", new StorageInitCommand().spec());
    spec().addSubcommand("status", new StorageStatusCommand().spec());
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec().commandLine(), "`storage init` or `storage status`");
  }
}
