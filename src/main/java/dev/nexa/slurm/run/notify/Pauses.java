package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Backoff;
import dev.nexa.slurm.records.notices.Outbox;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The channels that failed, and until when each of them rests. A pause doubles with each failure,
 * from one minute to one hour, unless the receiver names another time.
 */
public final class Pauses {
  private static final Backoff BACKOFF =
      new Backoff(Duration.ofMinutes(1), Duration.ofHours(1), () -> 1);

  /** One channel's pause. */
  record Pause(int failures, Instant since, Instant until, String error) {}

  /** The content of the file. */
  private record Kept(Map<String, Pause> channels) {}

  private final Outbox outbox;
  private final Map<String, Pause> pauses = new TreeMap<>();

  private Pauses(Outbox outbox) {
    this.outbox = outbox;
  }

  /** Reads the file; a missing or broken one holds no pause. */
  static Pauses read(Outbox outbox) {
    Pauses read = new Pauses(outbox);
    if (Files.notExists(outbox.pauses())) {
      return read;
    }
    try {
      JsonObject json = Json.parseObject(DurableFiles.read(outbox.pauses()));
      read.pauses.putAll(Codec.read(json, Kept.class).channels());
    } catch (IllegalArgumentException | ArithmeticException | UncheckedIOException broken) {
      return read;
    }
    return read;
  }

  /** Returns until when the channel rests; empty if it may send. */
  Optional<Instant> until(String channel, Instant now) {
    // A clock that was set back must not stop a channel for longer than any pause.
    Instant latest = now.plus(Duration.ofDays(1)).plusSeconds(1);
    return Optional.ofNullable(pauses.get(channel))
        .map(Pause::until)
        .filter(until -> until.isAfter(now) && !until.isAfter(latest));
  }

  /** Keeps that the channel works. */
  void worked(String channel) {
    if (pauses.remove(channel) != null) {
      write();
    }
  }

  /**
   * Keeps a failure.
   *
   * @return whether the channel worked before
   */
  boolean failed(String channel, Answer answer, Instant now) {
    Pause before = pauses.get(channel);
    int failures = before == null ? 1 : before.failures() + 1;
    Instant second = now.truncatedTo(ChronoUnit.SECONDS);
    pauses.put(
        channel,
        new Pause(
            failures,
            before == null ? second : before.since(),
            second.plus(answer.retryAfter().orElse(BACKOFF.after(failures))),
            answer.error().orElse("")));
    write();
    return before == null;
  }

  private void write() {
    outbox.replacePauses(Json.pretty(Codec.write(new Kept(pauses), JsonObject.ofVersion(1))));
  }
}
