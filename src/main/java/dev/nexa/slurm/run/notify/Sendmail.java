package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.run.Context;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Gives a mail to sendmail, which queues it. */
record Sendmail(NotifyChannel channel, Context context) implements Channel {

  @Override
  public Answer send(Notice notice, boolean doubtful, Duration limit) {
    String host = ProcessIdentity.ofThisProcess().host();
    return StartProgram.run(
        List.of(channel.sendmail(), "-i", "-t"),
        Map.of(),
        NoticeText.mail(notice, channel.to(), host, doubtful),
        context,
        limit);
  }
}
