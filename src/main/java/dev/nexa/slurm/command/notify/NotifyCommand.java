package dev.nexa.slurm.command.notify;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.notices.Delivery;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.notify.SendNotices;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

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

  /** The command {@code notify list}. */
  private static final class NotifyListCommand extends Subcommand {
    private static final int NEWEST = 20;

    /** A notification and one of its deliveries; empty if no pass has chosen the channels yet. */
    private record Row(Notice notice, Optional<Delivery> delivery) {
      boolean isOpen() {
        return delivery
            .map(one -> !one.isFinal() || one.state() == Delivery.State.FAILED)
            .orElse(true);
      }
    }

    private static final Columns<Row> COLUMNS =
        new Columns<Row>()
            .text("id", row -> row.notice().id())
            .text("at", row -> PlainTime.utc(row.notice().at()))
            .text("channel", row -> row.delivery().map(NotifyListCommand::channel).orElse("-"))
            .state("state", row -> row.delivery().map(one -> one.state().text()).orElse("recorded"))
            .number("attempts", row -> row.delivery().map(Delivery::attempts).orElse(0))
            .note("what", NotifyListCommand::what);

    private final OptionSpec all =
        flag(
            "-a, --all",
            "All that are kept: 30 days. Default: what waits or failed, and the newest 20.");
    private final OptionSpec json = jsonFlag();

    NotifyListCommand() {
      super(
          "list",
          "Lists your notifications, newest first: what was sent, what waits, what failed and why.",
          "nexa-slurm notify list",
          "nexa-slurm notify list --all --json");
    }

    @Override
    protected void work() {
      List<String> problems = new ArrayList<>();
      List<Notice> notices = new Outbox(existing().workspace()).all(problems);
      problems.forEach(this::note);
      List<Row> rows = new ArrayList<>();
      int done = 0;
      int left = 0;
      List<JsonObject> documents = new ArrayList<>();
      for (Notice notice : notices) {
        List<Row> own = rows(notice);
        boolean open = own.stream().anyMatch(Row::isOpen);
        done += open ? 0 : 1;
        if (!open && done > NEWEST && !given(all)) {
          left++;
          continue;
        }
        rows.addAll(own);
        documents.add(
            notice
                .document()
                .with("deliveries", notice.deliveries().stream().map(Codec::write).toList()));
      }
      if (given(json)) {
        print(JsonObject.ofVersion(1).with("notifications", documents));
      } else if (notices.isEmpty()) {
        say("no notification was recorded; `nexa-slurm notify test` tries the channels");
      } else {
        printTable(COLUMNS.of(rows).table(style()));
        if (left > 0) {
          say(left + " older ones were sent; --all lists them");
        }
      }
    }

    private static List<Row> rows(Notice notice) {
      if (!notice.prepared()) {
        return List.of(new Row(notice, Optional.empty()));
      }
      return notice.deliveries().stream().map(one -> new Row(notice, Optional.of(one))).toList();
    }

    private static String what(Row row) {
      Optional<String> error = row.delivery().flatMap(Delivery::error);
      return row.notice().title() + error.map(why -> " (" + why + ")").orElse("");
    }

    private static String channel(Delivery delivery) {
      return delivery.channel() + (delivery.ofRun() ? " (run)" : "");
    }
  }

  /** The command {@code notify resend}. */
  private static final class ResendCommand extends Subcommand {
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
                      ErrorCode.WORKSPACE_BUSY.error(
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
          .map(near -> Advice.command("sends that one", "nexa-slurm", "notify", "resend", near))
          .ifPresent(advice::add);
      advice.add(Advice.command("lists them", "nexa-slurm", "notify", "list"));
      return ErrorCode.OPTION_INVALID.error("there is no notification '" + typed + "'", advice);
    }
  }
}
