package dev.nexa.slurm.records.notices;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.records.approvals.UnixUser;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A notification: describes an event in words, and as facts for programs. Its texts have one line
 * each, no control characters and a bounded length, because names and log lines of jobs come from
 * strangers.
 *
 * @param id the same event always has the same id; it is also a file's name
 * @param user the user who caused it; this user's passes send it
 * @param run the run that it is about; empty if it is about something else
 * @param title one line
 * @param lines further lines
 * @param facts values for programs, such as {@code cost}
 * @param prepared whether a pass has chosen the channels
 * @param deliveries one for each channel; empty before a pass has looked at it
 */
@Codec.WithNulls
public record Notice(
    String id,
    NoticeKind kind,
    Instant at,
    String user,
    @Key("run_id") Optional<String> run,
    String title,
    List<String> lines,
    JsonObject facts,
    boolean prepared,
    List<Delivery> deliveries) {
  /** The fact that only the channels of the run's config get the notification. */
  public static final String ONLY_OF_RUN = "only_run_channels";

  /**
   * The name of a fact: its value is another kind, and channels of that kind get the notification,
   * too.
   */
  public static final String ALSO = "also";

  private static final int NEWEST = 1;
  private static final int LONGEST_TITLE = 200;
  private static final int LONGEST_LINE = 400;
  private static final int MOST_LINES = 20;
  private static final int LONGEST_ID = 150;

  public Notice {
    title = bounded(title, LONGEST_TITLE);
    lines = lines.stream().limit(MOST_LINES).map(line -> bounded(line, LONGEST_LINE)).toList();
    deliveries = List.copyOf(deliveries);
  }

  /**
   * Makes a notification that is about to be recorded.
   *
   * @param subject the thing that it is about: part of the id
   */
  public static Notice of(
      NoticeKind kind, String subject, Optional<String> run, String title, List<String> lines) {
    return new Notice(
        id(kind, subject),
        kind,
        Instant.now().truncatedTo(ChronoUnit.SECONDS),
        UnixUser.me().user(),
        run,
        title,
        lines,
        new JsonObject(),
        false,
        List.of());
  }

  private static String id(NoticeKind kind, String subject) {
    String plain = subject.replaceAll("[^A-Za-z0-9._-]", "_");
    return kind.text() + "." + plain.substring(0, Math.min(plain.length(), LONGEST_ID));
  }

  private static String bounded(String text, int most) {
    String line = VisibleText.line(text.strip());
    return line.codePointCount(0, line.length()) <= most
        ? line
        : line.substring(0, line.offsetByCodePoints(0, most - 1)) + "…";
  }

  /** Returns a copy with a fact for programs. */
  public Notice with(String name, Object value) {
    JsonObject more = facts.without().with(name, value);
    return new Notice(id, kind, at, user, run, title, lines, more, prepared, deliveries);
  }

  /**
   * Returns a copy that says why something failed.
   *
   * @param why the first line
   * @param command the command that shows more, the last line
   */
  public Notice explained(String why, String command) {
    List<String> all = new ArrayList<>(List.of(why));
    all.addAll(lines);
    all.add(command);
    Notice said = new Notice(id, kind, at, user, run, title, all, facts, prepared, deliveries);
    return said.with("why", bounded(why, LONGEST_LINE));
  }

  /** Returns a copy with each of its texts changed. */
  public Notice map(UnaryOperator<String> change) {
    JsonObject changed = new JsonObject();
    facts
        .members()
        .forEach(
            (name, value) ->
                changed.with(name, value instanceof String text ? change.apply(text) : value));
    List<String> all = lines.stream().map(change).toList();
    return new Notice(
        id, kind, at, user, run, change.apply(title), all, changed, prepared, deliveries);
  }

  /** Returns a copy that goes to these channels. */
  public Notice to(List<Delivery> channels) {
    return new Notice(id, kind, at, user, run, title, lines, facts, true, channels);
  }

  /** Returns a copy with one delivery replaced. */
  public Notice with(int index, Delivery delivery) {
    List<Delivery> all = new ArrayList<>(deliveries);
    all.set(index, delivery);
    return to(all);
  }

  /** Returns whether a channel that asks for these kinds gets it. */
  public boolean isFor(List<NoticeKind> asked) {
    Optional<String> also = facts.optionalText(ALSO);
    return asked.contains(kind) || (also.isPresent() && asked.contains(NoticeKind.of(also.get())));
  }

  /** Returns whether no pass needs to handle it any more. */
  public boolean isDone() {
    return prepared && deliveries.stream().allMatch(Delivery::isFinal);
  }

  /** Returns whether a delivery failed, or may not have arrived. */
  boolean isFailed() {
    return deliveries.stream()
        .anyMatch(
            one -> one.state() == Delivery.State.FAILED || one.state() == Delivery.State.UNKNOWN);
  }

  /** Returns the document that a channel gets: no state of deliveries. */
  public JsonObject document() {
    return new JsonObject()
        .with(SchemaVersion.KEY, NEWEST)
        .with("id", id)
        .with("kind", kind.text())
        .with("at", at)
        .with("user", user)
        .with("run_id", run.orElse(null))
        .with("title", title)
        .with("lines", lines)
        .with("facts", facts);
  }

  /** Returns the content of its file. */
  String text() {
    return Json.pretty(Codec.write(this, JsonObject.ofVersion(NEWEST)));
  }

  static Notice parse(String text, String file) {
    return Codec.read(SchemaVersion.parse(text, file, NEWEST), Notice.class);
  }
}
