package dev.nexa.slurm.journal;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Submission.Phase;
import dev.nexa.slurm.process.ProcessIdentity;
import dev.nexa.slurm.units.IndexRange;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a run's events add up to. Pure: the same events are the same state.
 *
 * @param created when the run was made
 * @param submissions in the order they were made
 * @param cancelRequested whether somebody asked for its end
 * @param finished whether its files are final
 * @param timesFinished how often they were: a rerun or a correction makes another version of the
 *     cost record
 * @param costDigest SHA-256 of the cost record that was final last; empty if none was, or before
 *     journals told it
 * @param durableBytes what its durable files hold, measured when it was over
 * @param rerun the tasks that were last asked for once more; empty if none were
 * @param submissionsBefore how many submissions there were when that was asked
 * @param reservedMore what reruns can cost at most, beside the run's own reservation
 */
public record RunState(
    Optional<Instant> created,
    List<Submission> submissions,
    boolean cancelRequested,
    boolean finished,
    int timesFinished,
    Optional<String> costDigest,
    Optional<Long> durableBytes,
    Optional<IndexRange> rerun,
    int submissionsBefore,
    BigDecimal reservedMore) {

  /** Folds events into a state. */
  public static RunState of(List<Event> events) {
    Optional<Instant> created = Optional.empty();
    Map<String, Submission> submissions = new LinkedHashMap<>();
    boolean cancelRequested = false;
    boolean finished = false;
    int timesFinished = 0;
    Optional<String> costDigest = Optional.empty();
    Optional<Long> durableBytes = Optional.empty();
    Optional<IndexRange> rerun = Optional.empty();
    int before = 0;
    BigDecimal reservedMore = BigDecimal.ZERO;
    for (Event event : events) {
      switch (event.type()) {
        case CREATED -> {
          created = Optional.of(event.at());
          if (event.data().members().containsKey("imported")) {
            Submission job = Submission.imported(event.data());
            created = Optional.of(job.intended());
            submissions.put(job.key(), job);
          }
        }
        case RERUN -> {
          rerun = Optional.of(IndexRange.parse(event.data().text("tasks")));
          before = submissions.size();
          reservedMore = reservedMore.add(new BigDecimal(event.data().text("reservation")));
          cancelRequested = false;
          finished = false;
          durableBytes = Optional.empty();
        }
        case CANCEL_REQUESTED -> cancelRequested = true;
        case FINISHED -> {
          finished = true;
          timesFinished++;
          costDigest = event.data().optionalText("cost_sha256");
        }
        case MEASURED -> durableBytes = Optional.of(event.data().number("durable_bytes"));
        case TORN_TAIL -> {}
        default -> {
          String key = event.data().text("key");
          submissions.put(key, apply(Optional.ofNullable(submissions.get(key)), event));
        }
      }
    }
    return new RunState(
        created,
        List.copyOf(submissions.values()),
        cancelRequested,
        finished,
        timesFinished,
        costDigest,
        durableBytes,
        rerun,
        before,
        reservedMore);
  }

  private static Submission apply(Optional<Submission> before, Event event) {
    JsonObject data = event.data();
    if (event.type() == Event.Type.SUBMITTING) {
      return Submission.intended(
          data.text("key"),
          IndexRange.parse(data.text("tasks")),
          data.optionalDecimal("offset").orElse(BigDecimal.ZERO).intValueExact(),
          data.optionalText("dependency").orElse(""),
          event.at());
    }
    if (before.isEmpty()) {
      throw new IllegalArgumentException("an event of a submission that was never intended");
    }
    Submission now = before.get();
    return switch (event.type()) {
      case CLIENT_STARTED ->
          now.withClient(
              new ProcessIdentity(data.text("host"), data.number("pid"), data.instant("started")));
      case SUBMITTED -> now.withJob(data.number("job_id"), event.at(), List.of());
      case ADOPTED -> now.withJob(data.number("job_id"), event.at(), duplicates(data));
      case REFUSED -> now.in(Phase.REFUSED, data.text("message"));
      case UNKNOWN -> now.in(Phase.UNKNOWN, data.text("message"));
      case CLIENT_GONE -> now.withClientGone(event.at());
      case MISSED -> now.withMissed(event.at());
      case CONFIRMED -> now.in(Phase.CONFIRMED, now.message());
      case CLOSED -> now.in(Phase.CLOSED, data.text("message"));
      default -> now;
    };
  }

  private static List<Long> duplicates(JsonObject data) {
    List<Long> duplicates = new ArrayList<>();
    data.texts("duplicates").forEach(id -> duplicates.add(Long.parseLong(id)));
    return duplicates;
  }

  /** The last submission made. */
  public Optional<Submission> last() {
    return submissions.isEmpty()
        ? Optional.empty()
        : Optional.of(submissions.get(submissions.size() - 1));
  }

  /**
   * The submission that counts for each task: the last one that holds it; one that came to nothing
   * only where no other was made since the task was last asked for. (A later link of a chain may be
   * refused while the first one works.)
   */
  public Map<Integer, Submission> newest() {
    Map<Integer, Submission> newest = new HashMap<>();
    for (int i = 0; i < submissions.size(); i++) {
      Submission submission = submissions.get(i);
      for (int task : submission.tasks().indices()) {
        Submission before = newest.get(task);
        boolean outlived =
            before != null
                && submission.failed()
                && !before.failed()
                && (i < submissionsBefore || submissions.indexOf(before) >= submissionsBefore);
        if (!outlived) {
          newest.put(task, submission);
        }
      }
    }
    return newest;
  }

  /** The submissions that count for some task, in the order they were made. */
  public List<Submission> current() {
    if (submissions.size() < 2) {
      return submissions;
    }
    Set<Submission> counting = new HashSet<>(newest().values());
    List<Submission> current = new ArrayList<>();
    for (Submission submission : submissions) {
      if (counting.contains(submission)) {
        current.add(submission);
      }
    }
    return current;
  }

  /**
   * The tasks whose next submission has not been made yet: whoever made the others died between two
   * of them, or one is not settled. None where one was refused, or the end was asked for. Of a
   * chain those of its first link that lacks any.
   *
   * @param count how many tasks the run has
   * @param chain how many submissions are to hold each; a rerun needs one
   */
  public IndexRange unsubmitted(int count, int chain) {
    // A lost submission and the one made for it wait for the same: they are one link.
    Map<Integer, Set<String>> links = new TreeMap<>();
    for (int task : rerun.orElseGet(() -> IndexRange.upTo(count)).indices()) {
      links.put(task, new HashSet<>());
    }
    boolean stopped = cancelRequested || submissions.isEmpty();
    for (Submission submission : submissions.subList(submissionsBefore, submissions.size())) {
      stopped |= submission.phase() == Phase.REFUSED;
      for (int task : submission.tasks().indices()) {
        links.getOrDefault(task, new HashSet<>()).add(submission.dependency());
      }
    }
    int wanted = stopped ? 0 : rerun.isPresent() ? 1 : chain;
    int fewest = wanted;
    for (Set<String> made : links.values()) {
      fewest = Math.min(fewest, made.size());
    }
    List<Integer> open = new ArrayList<>();
    for (Map.Entry<Integer, Set<String>> task : links.entrySet()) {
      if (task.getValue().size() == fewest && fewest < wanted) {
        open.add(task.getKey());
      }
    }
    return new IndexRange(open);
  }
}
