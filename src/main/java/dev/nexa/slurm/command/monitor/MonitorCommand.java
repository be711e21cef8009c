package dev.nexa.slurm.command.monitor;

import dev.nexa.slurm.command.shared.CommandGroup;

/** The command {@code nexa-slurm monitor}. */
public final class MonitorCommand extends CommandGroup {
  public MonitorCommand() {
    super(
        "monitor",
        "Shows what was sampled while a run's tasks ran: GPUs, CPUs, memory, disk, network, and the loss.",
        "`monitor show`",
        "nexa-slurm monitor show latest");
    spec().addSubcommand("show", new MonitorShowCommand().spec());
  }
}
