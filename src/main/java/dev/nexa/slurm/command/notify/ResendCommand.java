package dev.nexa.slurm.command.notify;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.notices.Delivery;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.notify.SendNotices;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code notify resend}. */
final class ResendCommand extends Subcommand {
  private final PositionalParamSpec id = parameter("ID", "The id, as `notify list` shows it.");

  ResendCommand() {
    super(
        "resend",
        "Sends a notification to all its channels again, now, whatever has become of it.",
        "nexa-slurm notify resend failed.train_20251101_143200");
  }

  @Override
  public Integer call() {
    Context context = existing();
    Outbox outbox = new Outbox(context.workspace());
    List<String> problems = new ArrayList<>();
    String typed = id.getValue();
    Notice notice = outbox.find(typed, problems).orElseThrow(() -> unknown(typed, outbox));
    Notice after =
        new SendNotices(context)
            .resend(notice, new ArrayList<>())
            .orElseThrow(
                () ->
                    new NexaException(
                        ErrorCode.WORKSPACE_BUSY,
                        "another process has been sending notifications for a minute",
                        Advice.command("sends it", "nexa-slurm", "notify", "resend", typed)));
    problems.forEach(this::note);
    boolean sent = true;
    for (Delivery one : after.deliveries()) {
      say(one.channel() + ": " + one.error().orElse(one.state().text()));
      sent &= one.state() == Delivery.State.SENT;
    }
    if (after.deliveries().isEmpty()) {
      say("no channel asks for " + notice.kind().text());
    }
    return sent ? ExitCode.OK.status() : ExitCode.DEFECT.status();
  }

  private static NexaException unknown(String typed, Outbox outbox) {
    List<String> ids = outbox.all(new ArrayList<>()).stream().map(Notice::id).toList();
    List<Advice> advice = new ArrayList<>();
    Nearest.to(typed, ids)
        .ifPresent(
            near ->
                advice.add(
                    Advice.command("sends that one", "nexa-slurm", "notify", "resend", near)));
    advice.add(Advice.command("lists them", "nexa-slurm", "notify", "list"));
    return new NexaException(
        ErrorCode.OPTION_INVALID, "there is no notification '" + typed + "'", advice);
  }
}
