package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.records.notices.Delivery;
import dev.nexa.slurm.records.notices.Delivery.State;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.run.Context;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Sends the notifications of this user's outbox, within a time limit. Two passes at once do not
 * meet: one of them finds the outbox locked and leaves it to the other.
 *
 * <p>Before each attempt the intent is durable, and after it the answer. If the process dies in
 * between, it is not known whether the notification arrived. A message is then sent again, and says
 * so. A program is not started again (docs/notify.md).
 */
public final class SendNotices {
  private static final Duration PASS = Duration.ofSeconds(30);
  private static final Duration ATTEMPT = Duration.ofSeconds(10);
  private static final Duration GIVEN_UP = Duration.ofDays(7);
  private static final Duration WAIT_FOR_LOCK = Duration.ofMinutes(1);
  private static final int FEWEST_ATTEMPTS = 5;
  private static final int DIGITS = 8;

  private final Context context;
  private final Duration attempt;
  private final Consumer<SendStep> passing;
  private final Outbox outbox;
  private final List<NotifyChannel> ofPolicy;
  private final ChooseChannels choose;

  public SendNotices(Context context) {
    this(context, ATTEMPT, step -> {});
  }

  /**
   * Makes a sender.
   *
   * @param attempt the time limit of one attempt
   * @param passing receives each step
   */
  public SendNotices(Context context, Duration attempt, Consumer<SendStep> passing) {
    this.context = context;
    this.attempt = attempt;
    this.passing = passing;
    this.outbox = new Outbox(context.workspace());
    this.ofPolicy = context.configs().policy().channels();
    this.choose = new ChooseChannels(context, ofPolicy);
  }

  /** One delivery of a notification, by its place. */
  private record Place(String id, int index) {}

  /**
   * Sends what is due.
   *
   * @param problems receives a line for each channel that begins to fail, and for each notification
   *     that is given up
   */
  public void pass(List<String> problems) {
    if (!outbox.exists()) {
      return;
    }
    try (FileLock held = outbox.lock(Duration.ZERO).orElse(null)) {
      if (held == null || !held.holds()) {
        return;
      }
      Instant end = Instant.now().plus(PASS);
      Map<String, Notice> waiting = prepared(problems, end);
      new Summarise(outbox, passing).fold(waiting);
      sendAll(waiting, end, false, problems);
      outbox.sweep(Instant.now());
    }
  }

  /**
   * Sends a notification now, whatever its state is. A delivery that a summary stands for is sent,
   * too.
   *
   * @return its state afterwards; empty if another process holds the outbox for a minute
   */
  public Optional<Notice> resend(Notice notice, List<String> problems) {
    try (FileLock held = outbox.lock(WAIT_FOR_LOCK).orElse(null)) {
      if (held == null || !held.holds()) {
        return Optional.empty();
      }
      Notice again =
          notice.prepared() && !notice.deliveries().isEmpty() ? notice : choose.prepare(notice);
      for (int i = 0; i < again.deliveries().size(); i++) {
        Delivery old = again.deliveries().get(i);
        again = again.with(i, Delivery.waiting(old.channel(), old.ofRun()));
      }
      outbox.reopen(again);
      Map<String, Notice> one = new LinkedHashMap<>();
      one.put(again.id(), again);
      sendAll(one, Instant.now().plus(PASS), true, problems);
      return Optional.of(one.getOrDefault(again.id(), again));
    }
  }

  /** Sends a notification that is not kept to one channel. */
  public Answer attempt(NotifyChannel channel, Notice notice) {
    return Channel.of(channel, context).send(notice, false, attempt);
  }

  private Map<String, Notice> prepared(List<String> problems, Instant end) {
    Map<String, Notice> waiting = new LinkedHashMap<>();
    for (Notice notice : outbox.waiting(problems)) {
      Notice now = notice;
      if (!now.prepared()) {
        if (!Instant.now().isBefore(end)) {
          continue;
        }
        now = choose.prepare(now);
        outbox.save(now);
        passing.accept(SendStep.PREPARED);
      }
      if (!now.isDone()) {
        waiting.put(now.id(), settled(now, problems));
      }
    }
    waiting.values().removeIf(Notice::isDone);
    return waiting;
  }

  /** Decides the state of attempts whose process died: it holds the lock no more. */
  private Notice settled(Notice notice, List<String> problems) {
    Notice now = notice;
    for (int i = 0; i < notice.deliveries().size(); i++) {
      Delivery one = notice.deliveries().get(i);
      if (one.state() == State.SENDING) {
        String died = "the process died while it was being sent";
        State next = isProgram(notice, one) ? State.UNKNOWN : State.WAITING;
        now = now.with(i, one.failed(next, died, true, Instant.now()));
        if (next == State.UNKNOWN) {
          problems.add(givenUp(now, one, died));
        }
      }
    }
    if (!now.equals(notice)) {
      outbox.save(now);
    }
    return now;
  }

  private boolean isProgram(Notice notice, Delivery delivery) {
    return channel(notice, delivery)
        .filter(channel -> channel.kind() == NotifyChannel.Kind.COMMAND)
        .isPresent();
  }

  private Optional<NotifyChannel> channel(Notice notice, Delivery delivery) {
    return (delivery.ofRun() ? choose.ofRun(notice) : ofPolicy)
        .stream().filter(channel -> channel.name().equals(delivery.channel())).findFirst();
  }

  /** Sends in order of attempts, so that a message that is refused does not hold up the others. */
  private void sendAll(
      Map<String, Notice> waiting, Instant end, boolean ignorePauses, List<String> problems) {
    List<Place> places = new ArrayList<>();
    for (Notice notice : waiting.values()) {
      for (int i = 0; i < notice.deliveries().size(); i++) {
        if (notice.deliveries().get(i).state() == State.WAITING) {
          places.add(new Place(notice.id(), i));
        }
      }
    }
    places.sort(
        Comparator.comparingInt(
            place -> of(waiting, place).deliveries().get(place.index()).attempts()));
    Pauses pauses = Pauses.read(outbox);
    Set<String> resting = new HashSet<>();
    for (Place place : places) {
      Notice notice = of(waiting, place);
      Delivery delivery = notice.deliveries().get(place.index());
      Optional<NotifyChannel> channel = channel(notice, delivery);
      Instant now = Instant.now();
      if (channel.isEmpty()) {
        String gone =
            (delivery.ofRun() ? "the run's config" : "the policy") + " has no such channel now";
        keep(waiting, notice.with(place.index(), delivery.failed(State.FAILED, gone, false, now)));
        problems.add(givenUp(notice, delivery, gone));
        continue;
      }
      String key = key(delivery, channel.get());
      boolean rests =
          resting.contains(key) || (!ignorePauses && pauses.until(key, now).isPresent());
      if (rests || now.plus(Duration.ofSeconds(1)).isAfter(end)) {
        continue;
      }
      Duration left = Duration.between(now, end);
      Answer answer =
          send(waiting, place, channel.get(), left.compareTo(attempt) < 0 ? left : attempt);
      if (answer.error().isEmpty()) {
        pauses.worked(key);
        continue;
      }
      resting.add(key);
      boolean first = pauses.failed(key, answer, Instant.now());
      Delivery after = of(waiting, place).deliveries().get(place.index());
      if (after.isFinal()) {
        problems.add(givenUp(notice, after, answer.error().get()));
      } else if (first) {
        problems.add(
            ("notify: the channel %s fails: %s; it is tried again, `nexa-slurm notify list`"
                    + " shows what waits")
                .formatted(delivery.channel(), answer.error().get()));
      }
    }
  }

  private static Notice of(Map<String, Notice> waiting, Place place) {
    return Objects.requireNonNull(waiting.get(place.id()));
  }

  /** The runs' channels have no common names, so their targets tell them apart. */
  private static String key(Delivery delivery, NotifyChannel channel) {
    return delivery.ofRun()
        ? "run " + Sha256.of(channel.target()).substring(0, DIGITS)
        : delivery.channel();
  }

  private void keep(Map<String, Notice> waiting, Notice notice) {
    outbox.save(notice);
    waiting.put(notice.id(), notice);
  }

  private Answer send(
      Map<String, Notice> waiting, Place place, NotifyChannel channel, Duration limit) {
    Notice notice = of(waiting, place);
    Delivery before = notice.deliveries().get(place.index());
    Delivery sending = before.sending(Instant.now());
    keep(waiting, notice.with(place.index(), sending));
    passing.accept(SendStep.INTENT_WRITTEN);
    Answer answer = Channel.of(channel, context).send(notice, before.doubtful(), limit);
    passing.accept(SendStep.ANSWERED);
    keep(waiting, notice.with(place.index(), after(notice, sending, channel, answer)));
    passing.accept(SendStep.RECEIPT_WRITTEN);
    return answer;
  }

  private static Delivery after(
      Notice notice, Delivery sending, NotifyChannel channel, Answer answer) {
    Instant now = Instant.now();
    if (answer.error().isEmpty()) {
      return sending.as(State.SENT, now);
    }
    boolean program = channel.kind() == NotifyChannel.Kind.COMMAND;
    boolean old = sending.attempts() >= FEWEST_ATTEMPTS && notice.at().plus(GIVEN_UP).isBefore(now);
    State next = program && answer.doubtful() ? State.UNKNOWN : old ? State.FAILED : State.WAITING;
    return sending.failed(next, answer.error().get(), answer.doubtful(), now);
  }

  private static String givenUp(Notice notice, Delivery delivery, String why) {
    return "notify: %s to %s: %s; it is not sent again by itself: `nexa-slurm notify resend %s`"
        .formatted(notice.id(), delivery.channel(), why, notice.id());
  }

  /**
   * Returns why a channel cannot take any message from this machine; empty if its program and its
   * address are right. Sends nothing.
   */
  public static Optional<String> fault(NotifyChannel channel, Map<String, String> environment) {
    boolean mail = channel.kind() == NotifyChannel.Kind.MAIL;
    if (mail || channel.kind() == NotifyChannel.Kind.COMMAND) {
      Path program = Path.of(mail ? channel.sendmail() : channel.command().get(0));
      return Files.isExecutable(program)
          ? Optional.empty()
          : Optional.of(program + " is no program that you can start");
    }
    try {
      SecretAddress.of(channel, environment);
      return Optional.empty();
    } catch (SecretAddress.UnusableException unusable) {
      return Optional.of(String.valueOf(unusable.getMessage()));
    }
  }
}
