package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.command.shared.Subcommand;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm sync}. */
public final class SyncCommand extends Subcommand {
  /** Makes the command with its subcommands. */
  public SyncCommand() {
    super(
        "sync",
        "Copies the durable files to S3 and back: whole, checked, or not at all.",
        "nexa-slurm sync plan",
        "nexa-slurm sync push",
        "nexa-slurm sync pull s3://nexacompute/checkpoints /mnt/nexa_durable/checkpoints");
    for (SyncStepCommand.Step step : SyncStepCommand.Step.values()) {
      spec().addSubcommand(step.word(), new SyncStepCommand(step).spec());
    }
    spec().addSubcommand("abort-leftovers", new AbortLeftoversCommand().spec());
    spec().addSubcommand("mirror", new MirrorCommand().spec());
  }

  @Override
  public Integer call() {
    String names = String.join("`, `sync ", spec().subcommands().keySet());
    throw new ParameterException(spec().commandLine(), "give a step: `sync " + names + "`");
  }
}
