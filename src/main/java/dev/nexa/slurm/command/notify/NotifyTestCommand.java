package dev.nexa.slurm.command.notify;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.pipeline.FromRuns;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.notify.Answer;
import dev.nexa.slurm.run.notify.SendNotices;
import dev.nexa.slurm.run.start.Prepared;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code notify test}. */
final class NotifyTestCommand extends Subcommand {
  private final PositionalParamSpec name =
      optionalParameter(
          "CHANNEL",
          "A channel of the policy, or of the config that --config names. Default: all of them.");
  private final OptionSpec config =
      option("--config CONFIG", "Tries the channels of this run's config instead.");

  NotifyTestCommand() {
    super(
        "test",
        "Sends a test message to each channel now. Ends with 1 if a channel does not take it.",
        "nexa-slurm notify test",
        "nexa-slurm notify test team",
        "nexa-slurm notify test --config configs/train/science.yaml");
  }

  @Override
  public Integer call() {
    Context context = existing();
    List<NotifyChannel> chosen = chosen(context);
    SendNotices sender = new SendNotices(context);
    int status = ExitCode.OK.status();
    for (NotifyChannel channel : chosen) {
      Answer answer = sender.attempt(channel, notice(context, channel));
      say(channel.name() + ": " + answer.error().map(why -> "failed: " + why).orElse("sent"));
      out().flush();
      status = answer.error().isPresent() ? ExitCode.DEFECT.status() : status;
    }
    return status;
  }

  private List<NotifyChannel> chosen(Context context) {
    Policy policy = context.configs().policy();
    Optional<String> file = value(config);
    List<NotifyChannel> all =
        file.map(typed -> ofConfig(context, typed)).orElseGet(policy::channels);
    String where = file.orElse(policy.name());
    if (all.isEmpty()) {
      throw invalid(
          where + " has no channels: the key notify is missing",
          "add one (`nexa-slurm explain docs/notify.md`)");
    }
    String typed = name.getValue();
    if (typed == null) {
      return all;
    }
    List<NotifyChannel> named =
        all.stream().filter(channel -> channel.name().equals(typed)).toList();
    if (named.isEmpty()) {
      List<String> names = all.stream().map(NotifyChannel::name).toList();
      throw ErrorCode.OPTION_INVALID.error(
          where + " has no channel '" + typed + "'; it has " + String.join(", ", names),
          Nearest.to(typed, names).stream()
              .map(near -> Advice.command("tries " + near, "nexa-slurm", "notify", "test", near))
              .toList());
    }
    return named;
  }

  private static List<NotifyChannel> ofConfig(Context context, String file) {
    String cluster = Prepared.clusterName(context);
    return context
        .configs()
        .run(file, List.of(), FromRuns.NONE, Optional.empty(), Optional.empty(), cluster)
        .supervision()
        .channels();
  }

  private static Notice notice(Context context, NotifyChannel channel) {
    return Notice.of(
        NoticeKind.TEST,
        channel.name() + "." + Instant.now().toEpochMilli(),
        Optional.empty(),
        "test of the channel " + channel.name(),
        List.of(
            "from %s, workspace %s"
                .formatted(ProcessIdentity.ofThisProcess().host(), context.workspace().root()),
            "it gets: "
                + String.join(", ", channel.kinds().stream().map(NoticeKind::text).toList())));
  }
}
