package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.text.WithoutSecrets;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.run.Context;
import java.time.Duration;
import java.util.Optional;

/** A way to send a notification. */
interface Channel {
  /**
   * Sends a notification, and returns within the limit or shortly after it.
   *
   * @param doubtful whether an earlier attempt may have arrived
   */
  Answer send(Notice notice, boolean doubtful, Duration limit);

  /** Returns the channel that a file describes. No kind of it sends what looks like a secret. */
  static Channel of(NotifyChannel channel, Context context) {
    Channel raw =
        switch (channel.kind()) {
          case SLACK, WEBHOOK -> new Webhook(channel, context.environment());
          case MAIL -> new Sendmail(channel, context);
          case COMMAND -> new StartProgram(channel, context);
        };
    WithoutSecrets secrets = new WithoutSecrets(Optional.empty());
    return (notice, doubtful, limit) -> raw.send(notice.map(secrets::line), doubtful, limit);
  }
}
