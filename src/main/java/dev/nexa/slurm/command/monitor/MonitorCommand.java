package dev.nexa.slurm.command.monitor;

import dev.nexa.slurm.command.shared.Subcommand;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm monitor}. */
public final class MonitorCommand extends Subcommand {
  public MonitorCommand() {
    super(
        "monitor",
        "Shows what was sampled while a run's tasks ran: GPUs, CPUs, memory, disk, network, and the loss.",
        "nexa-slurm monitor show latest");
    spec().addSubcommand("show", new MonitorShowCommand().spec());
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec().commandLine(), "`monitor show`");
  }
}
