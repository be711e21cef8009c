package dev.nexa.slurm.command.notify;

import dev.nexa.slurm.command.shared.Subcommand;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm notify}. */
public final class NotifyCommand extends Subcommand {
  public NotifyCommand() {
    super(
        "notify",
        "Shows which notifications were sent and which wait, tries channels, and sends again.",
        "nexa-slurm notify test",
        "nexa-slurm notify list",
        "nexa-slurm notify resend failed.train_20251101_143200");
    spec().addSubcommand("test", new NotifyTestCommand().spec());
    spec().addSubcommand("list", new NotifyListCommand().spec());
    spec().addSubcommand("resend", new ResendCommand().spec());
  }

  @Override
  public Integer call() {
    throw new ParameterException(
        spec().commandLine(),
        "expected what to do: `notify test`, `notify list` or `notify resend ID`");
  }
}
