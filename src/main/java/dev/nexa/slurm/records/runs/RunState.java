package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.records.runs.Submission.Phase;
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
 * The state of a run, derived from its events. Pure: equal events give equal states.
 *
 * @param created when the run was made; for an imported job, when it was submitted
 * @param pipeline the pipeline that the run is a stage of; empty for a run of its own
 * @param after what the run waits for; empty for nothing, and in journals of earlier versions
 * @param submissions in the order they were made
 * @param cancelRequested whether a user asked to end the run, since the last rerun
 * @param finished whether the manifest and the cost file are final
 * @param timesFinished how often they became final; a rerun or a correction makes another version
 * @param costDigest SHA-256 of the last final cost file; empty if there was none, or if the journal
 *     is of a version that did not record it
 * @param durableBytes size of its durable files, measured at its end
 * @param rerun the last rerun; empty if there was none
 * @param reservedMore reservations of all reruns, in addition to the run's own
 * @param remediations what was done about failures of the run, as the manifest has it
 */
public record RunState(
    Optional<Instant> created,
    Optional<String> pipeline,
    List<Earlier> after,
    List<Submission> submissions,
    boolean cancelRequested,
    boolean finished,
    int timesFinished,
    Optional<String> costDigest,
    Optional<Long> durableBytes,
    Optional<LastRerun> rerun,
    BigDecimal reservedMore,
    List<Remediation> remediations) {

  /**
   * The last rerun.
   *
   * @param submissionsBefore how many submissions there were before it
   */
  public record LastRerun(IndexRange tasks, int submissionsBefore) {}

  /** Derives the state from a journal's events. */
  public static RunState of(List<Event> events) {
    Optional<Instant> created = Optional.empty();
    Optional<String> pipeline = Optional.empty();
    List<Earlier> after = List.of();
    Map<String, Submission> submissions = new LinkedHashMap<>();
    boolean cancelRequested = false;
    boolean finished = false;
    int timesFinished = 0;
    Optional<String> costDigest = Optional.empty();
    Optional<Long> durableBytes = Optional.empty();
    Optional<LastRerun> rerun = Optional.empty();
    BigDecimal reservedMore = BigDecimal.ZERO;
    List<Remediation> remediations = new ArrayList<>();
    for (Event event : events) {
      switch (event.type()) {
        case CREATED -> {
          created = Optional.of(event.at());
          pipeline = event.data().optionalText("pipeline");
          after =
              Earlier.fromJson(
                  event.data().members().containsKey("after")
                      ? event.data().objects("after")
                      : List.of());
          if (event.data().members().containsKey("imported")) {
            Submission job = Submission.imported(event.data());
            created = Optional.of(job.intended());
            submissions.put(job.key(), job);
          }
        }
        case RERUN -> {
          IndexRange tasks = IndexRange.parse(event.data().text("tasks"));
          rerun = Optional.of(new LastRerun(tasks, submissions.size()));
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
        case REMEDIATED -> remediations.add(remediation(event));
        case POSTPONED -> submissions.remove(event.data().text("key"));
        default -> {
          if (finished && event.type() == Event.Type.ADOPTED) {
            finished = false;
            durableBytes = Optional.empty();
          }
          String key = event.data().text("key");
          submissions.put(key, apply(Optional.ofNullable(submissions.get(key)), event));
        }
      }
    }
    return new RunState(
        created,
        pipeline,
        after,
        List.copyOf(submissions.values()),
        cancelRequested,
        finished,
        timesFinished,
        costDigest,
        durableBytes,
        rerun,
        reservedMore,
        remediations);
  }

  /**
   * Returns the id of the approval that the run used; the newest one, if a rerun used another.
   * Empty if none was needed.
   */
  public static Optional<String> approval(List<Event> events) {
    return events.stream()
        .flatMap(event -> event.data().optionalText("approval_id").stream())
        .reduce((earlier, newest) -> newest);
  }

  /** Returns a remediation as the manifest has it. */
  public static Remediation remediation(Event event) {
    return new Remediation(event.at(), event.data().text("by"), event.data().text("text"));
  }

  /**
   * An action that somebody took after a failure.
   *
   * @param by the login name
   */
  public record Remediation(Instant at, String by, String text) {}

  private static Submission apply(Optional<Submission> before, Event event) {
    JsonObject data = event.data();
    if (event.type() == Event.Type.SUBMITTING) {
      return Submission.intended(
          data.text("key"),
          IndexRange.parse(data.text("tasks")),
          data.optionalDecimal("offset").orElse(BigDecimal.ZERO).intValueExact(),
          data.optionalText("dependency").orElse(""),
          // Journals of earlier versions tell links apart by what they wait for.
          data.optionalText("link").or(() -> data.optionalText("dependency")).orElse(""),
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
      case ADOPTED -> now.found(data.number("job_id"), event.at(), duplicates(data));
      case REFUSED -> now.in(Phase.REFUSED, data.text("message"));
      case UNKNOWN -> now.in(Phase.UNKNOWN, data.text("message"));
      case CLIENT_GONE -> now.withClientGone(event.at());
      case MISSED -> now.withMissed(event.at());
      case CONFIRMED -> now.in(Phase.CONFIRMED, now.message());
      case REPOINTED -> now.waitingFor(data.text("dependency"));
      case CLOSED -> now.in(Phase.CLOSED, data.text("message"));
      default -> now;
    };
  }

  private static List<Long> duplicates(JsonObject data) {
    return data.texts("duplicates").stream().map(Long::valueOf).toList();
  }

  /** Returns the submission that was made last. */
  public Optional<Submission> last() {
    return submissions.isEmpty()
        ? Optional.empty()
        : Optional.of(submissions.get(submissions.size() - 1));
  }

  /** Returns how many submissions there were before the last rerun; 0 if there was none. */
  public int submissionsBefore() {
    return rerun.isPresent() ? rerun.get().submissionsBefore() : 0;
  }

  /** Returns the submissions that were made since the last rerun; all if there was none. */
  public List<Submission> sinceRerun() {
    return submissions.subList(submissionsBefore(), submissions.size());
  }

  /**
   * Returns the submission that counts for each task: the last one that holds the task. A failed
   * submission does not replace a submission that has not failed, unless the latter was made before
   * the last rerun. For example, a later link of a chain may be refused while the first link still
   * runs.
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
                && (i < submissionsBefore() || submissions.indexOf(before) >= submissionsBefore());
        if (!outlived) {
          newest.put(task, submission);
        }
      }
    }
    return newest;
  }

  /** Returns the submissions that count for any task, in the order they were made. */
  public List<Submission> current() {
    if (submissions.size() < 2) {
      return submissions;
    }
    Set<Submission> counting = new HashSet<>(newest().values());
    return submissions.stream().filter(counting::contains).toList();
  }

  /** Returns how many links of its chain a task has, since the last rerun. */
  public int links(int task) {
    return (int)
        sinceRerun().stream()
            .filter(submission -> submission.tasks().indices().contains(task))
            .map(Submission::link)
            .distinct()
            .count();
  }

  /**
   * Returns the tasks whose next submission is still to be made, because the submitting process
   * died, or because an earlier submission is not settled. For a chain, these are the tasks that
   * lack the earliest missing link. Empty if a submission was refused, or if a user asked to end
   * the run.
   *
   * @param count how many tasks the run has
   * @param chain how many submissions each task needs; a rerun needs one
   */
  public IndexRange unsubmitted(int count, int chain) {
    // A lost submission and its replacement count as one link.
    Map<Integer, Set<String>> links = new TreeMap<>();
    for (int task : rerun.map(LastRerun::tasks).orElseGet(() -> IndexRange.upTo(count)).indices()) {
      links.put(task, new HashSet<>());
    }
    boolean stopped = cancelRequested || (submissions.isEmpty() && pipeline.isEmpty());
    for (Submission submission : sinceRerun()) {
      stopped |= submission.phase() == Phase.REFUSED;
      for (int task : submission.tasks().indices()) {
        links.getOrDefault(task, new HashSet<>()).add(submission.link());
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
