package dev.nexa.slurm.journal;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Submission.Phase;
import dev.nexa.slurm.process.ProcessIdentity;
import dev.nexa.slurm.units.IndexRange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a run's events add up to. Pure: the same events are the same state.
 *
 * @param created when the run was made
 * @param submissions in the order they were made
 * @param cancelRequested whether somebody asked for its end
 * @param finished whether its files are final
 */
public record RunState(
    Optional<Instant> created,
    List<Submission> submissions,
    boolean cancelRequested,
    boolean finished) {

  /** Folds events into a state. */
  public static RunState of(List<Event> events) {
    Optional<Instant> created = Optional.empty();
    Map<String, Submission> submissions = new LinkedHashMap<>();
    boolean cancelRequested = false;
    boolean finished = false;
    for (Event event : events) {
      switch (event.type()) {
        case CREATED -> created = Optional.of(event.at());
        case CANCEL_REQUESTED -> cancelRequested = true;
        case FINISHED -> finished = true;
        case TORN_TAIL -> {}
        default -> {
          String key = event.data().text("key");
          submissions.put(key, apply(Optional.ofNullable(submissions.get(key)), event));
        }
      }
    }
    return new RunState(created, List.copyOf(submissions.values()), cancelRequested, finished);
  }

  private static Submission apply(Optional<Submission> before, Event event) {
    JsonObject data = event.data();
    if (event.type() == Event.Type.SUBMITTING) {
      return new Submission(
          data.text("key"),
          IndexRange.parse(data.text("tasks")),
          event.at(),
          Phase.INTENDED,
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          List.of(),
          "");
    }
    Submission now =
        before.orElseThrow(
            () -> new IllegalArgumentException("an event of a submission that was never intended"));
    return switch (event.type()) {
      case CLIENT_STARTED -> withClient(now, data);
      case SUBMITTED, ADOPTED -> withJob(now, event);
      case REFUSED -> with(now, Phase.REFUSED, data.text("message"));
      case UNKNOWN -> with(now, Phase.UNKNOWN, data.text("message"));
      case CLIENT_GONE -> withClientGone(now, event.at());
      case MISSED -> withMissed(now, event.at());
      case CONFIRMED -> with(now, Phase.CONFIRMED, now.message());
      case CLOSED -> with(now, Phase.CLOSED, data.text("message"));
      default -> now;
    };
  }

  private static Submission with(Submission s, Phase phase, String message) {
    return new Submission(
        s.key(),
        s.tasks(),
        s.intended(),
        phase,
        s.client(),
        s.clientGone(),
        s.jobId(),
        s.answered(),
        s.missed(),
        s.duplicates(),
        message);
  }

  private static Submission withClient(Submission s, JsonObject data) {
    ProcessIdentity client =
        new ProcessIdentity(data.text("host"), data.number("pid"), data.instant("started"));
    return new Submission(
        s.key(),
        s.tasks(),
        s.intended(),
        s.phase(),
        Optional.of(client),
        s.clientGone(),
        s.jobId(),
        s.answered(),
        s.missed(),
        s.duplicates(),
        s.message());
  }

  private static Submission withClientGone(Submission s, Instant at) {
    return new Submission(
        s.key(),
        s.tasks(),
        s.intended(),
        s.phase(),
        s.client(),
        Optional.of(at),
        s.jobId(),
        s.answered(),
        s.missed(),
        s.duplicates(),
        s.message());
  }

  private static Submission withMissed(Submission s, Instant at) {
    return new Submission(
        s.key(),
        s.tasks(),
        s.intended(),
        s.phase(),
        s.client(),
        s.clientGone(),
        s.jobId(),
        s.answered(),
        Optional.of(at),
        s.duplicates(),
        s.message());
  }

  private static Submission withJob(Submission s, Event event) {
    List<Long> duplicates = new ArrayList<>();
    if (event.type() == Event.Type.ADOPTED) {
      event.data().texts("duplicates").forEach(id -> duplicates.add(Long.parseLong(id)));
    }
    return new Submission(
        s.key(),
        s.tasks(),
        s.intended(),
        Phase.SUBMITTED,
        s.client(),
        s.clientGone(),
        Optional.of(event.data().number("job_id")),
        Optional.of(event.at()),
        Optional.empty(),
        List.copyOf(duplicates),
        "");
  }

  /** The submission that counts: the last one made. */
  public Optional<Submission> last() {
    return submissions.isEmpty()
        ? Optional.empty()
        : Optional.of(submissions.get(submissions.size() - 1));
  }
}
