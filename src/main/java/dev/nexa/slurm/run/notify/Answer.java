package dev.nexa.slurm.run.notify;

import java.time.Duration;
import java.util.Optional;

/**
 * The result of one attempt to send.
 *
 * @param error why it failed, without any secret; empty if the channel took the notification
 * @param doubtful whether it may have arrived all the same
 * @param retryAfter how long the receiver asks to wait; empty if it does not say
 */
public record Answer(Optional<String> error, boolean doubtful, Optional<Duration> retryAfter) {
  /** The channel took the notification. */
  static final Answer SENT = new Answer(Optional.empty(), false, Optional.empty());

  /** Returns a failure. The notification cannot have arrived. */
  static Answer failed(String error) {
    return new Answer(Optional.of(error), false, Optional.empty());
  }

  /** Returns a failure. The notification may have arrived. */
  static Answer doubtful(String error) {
    return new Answer(Optional.of(error), true, Optional.empty());
  }
}
