package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A run's events, one JSON object a line. Each line holds the SHA-256 of the line before, so an
 * edit is detected.
 *
 * <p>A writer must hold the run's lock. If a crash cut the last line short, the next append removes
 * it and adds a {@link Event.Type#TORN_TAIL} event.
 */
public final class Journal {
  private static final String FIRST = "0".repeat(64);

  private final Path file;
  private final DurableFiles files;

  Journal(Path file, DurableFiles files) {
    this.file = file;
    this.files = files;
  }

  /** Returns the path of the journal. */
  public Path file() {
    return file;
  }

  /**
   * Returns every complete event, in order; empty if there is no journal.
   *
   * @throws NexaException if a line was changed, or is no event
   */
  public List<Event> read() {
    byte[] bytes = bytes(file);
    return parse(text(bytes, 0, wholeLength(bytes))).events;
  }

  /** Appends events durably. Readers see all of them or none. */
  public void append(Event... events) {
    byte[] bytes = bytes(file);
    int whole = wholeLength(bytes);
    StringBuilder lines = new StringBuilder();
    String previous = parse(text(bytes, 0, whole)).last;
    if (whole < bytes.length) {
      files.truncate(file, whole);
      JsonObject cut = new JsonObject().with("removed", text(bytes, whole, bytes.length));
      previous = add(lines, previous, Event.now(Event.Type.TORN_TAIL, cut));
    }
    for (Event event : events) {
      previous = add(lines, previous, event);
    }
    files.append(file, lines.toString());
  }

  /**
   * Appends events as {@link #append} does. If that fails, it tries to remove what was written, so
   * that no reader sees any of the events.
   */
  public void appendOrTakeBack(List<Event> events) {
    long before = wholeLength(bytes(file));
    try {
      append(events.toArray(Event[]::new));
    } catch (UncheckedIOException failed) {
      try {
        if (Files.exists(file)) {
          files.truncate(file, before);
        }
      } catch (UncheckedIOException asWell) {
        failed.addSuppressed(asWell);
      }
      throw failed;
    }
  }

  private static String add(StringBuilder lines, String previous, Event event) {
    JsonObject line =
        new JsonObject()
            .with("event", event.type().name().toLowerCase(Locale.ROOT))
            .with("at", event.at())
            .with("data", event.data())
            .with("previous", previous);
    String text = Json.compact(line);
    lines.append(text).append('\n');
    return Sha256.of(text);
  }

  /** Returns the bytes of a file of lines; none if there is no file. */
  public static byte[] bytes(Path file) {
    return Files.exists(file) ? DurableFiles.readBytes(file) : new byte[0];
  }

  /**
   * Returns the length up to the last newline. The rest was cut short, perhaps inside a character.
   */
  public static int wholeLength(byte[] bytes) {
    int end = bytes.length;
    while (end > 0 && bytes[end - 1] != '\n') {
      end--;
    }
    return end;
  }

  private static String text(byte[] bytes, int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }

  private record Parsed(List<Event> events, String last) {}

  private Parsed parse(String text) {
    List<Event> events = new ArrayList<>();
    String previous = FIRST;
    int from = 0;
    for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      String line = text.substring(from, end);
      events.add(event(line, previous, events.size() + 1));
      previous = Sha256.of(line);
      from = end + 1;
    }
    return new Parsed(events, previous);
  }

  private Event event(String line, String previous, int number) {
    try {
      JsonObject json = Json.parseObject(line);
      if (!json.text("previous").equals(previous)) {
        throw broken(number, "it does not follow the line before: one of them was changed");
      }
      Event.Type type = Event.Type.valueOf(json.text("event").toUpperCase(Locale.ROOT));
      return new Event(type, json.instant("at"), json.object("data"));
    } catch (IllegalArgumentException notAnEvent) {
      throw broken(number, "it is no event: " + notAnEvent.getMessage());
    }
  }

  private NexaException broken(int number, String why) {
    return ErrorCode.JOURNAL_DAMAGED.error(
        file + ":" + number + ": " + why,
        Advice.step(
            "the run is left as it is; restore the file from a backup, see `nexa-slurm explain docs/recovery.md`"));
  }
}
