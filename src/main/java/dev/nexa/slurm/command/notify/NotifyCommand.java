package dev.nexa.slurm.command.notify;

import dev.nexa.slurm.command.shared.CommandGroup;

/** The command {@code nexa-slurm notify}. */
public final class NotifyCommand extends CommandGroup {
  public NotifyCommand() {
    super(
        "notify",
        "Shows which notifications were sent and which wait, tries channels, and sends again.",
        "expected what to do: `notify test`, `notify list` or `notify resend ID`",
        "nexa-slurm notify test",
        "nexa-slurm notify list",
        "nexa-slurm notify resend failed.train_20251101_143200");
    subcommands(new NotifyTestCommand(), new NotifyListCommand(), new ResendCommand());
  }
}
