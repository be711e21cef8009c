package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Submission.Phase;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Decides the result of a submission whose job is not confirmed, from the rows of squeue and
 * accounting with its name.
 *
 * <p>Reads and writes nothing: it returns the event to write, or empty if it is too early to
 * decide.
 */
public record SubmissionResolver(SettleRules rules) {
  /**
   * Returns the next event of the submission.
   *
   * @param queued squeue's entries of this name
   * @param rows accounting's rows of this name
   * @param asked when squeue was asked; a deadline counts only if it had passed at this time
   */
  public Optional<Event> resolve(
      Submission submission,
      List<QueueEntry> queued,
      List<AccountingRecord> rows,
      Instant asked,
      Instant now) {
    if (submission.unresolved()) {
      return find(submission, queued, rows, asked, now);
    }
    if (submission.failed()) {
      return Optional.empty();
    }
    Optional<Event> others = others(submission, queued, rows, now);
    return others.isPresent() || submission.phase() == Phase.CONFIRMED
        ? others
        : confirm(submission, queued, rows, asked, now);
  }

  /**
   * Returns the event that a job of a refused or closed submission was found after all, because
   * squeue lists it or accounting has its end.
   *
   * <p>Call this only for a submission that was not shut and whose tasks were not submitted again.
   * A job of any other refused or closed submission cannot work.
   */
  public static Optional<Event> found(
      Submission submission, List<QueueEntry> queued, List<AccountingRecord> rows, Instant now) {
    TreeSet<Long> ids = new TreeSet<>();
    queued.forEach(entry -> ids.add(entry.arrayJobId()));
    rows.stream().filter(row -> row.ended() && row.ran()).forEach(row -> ids.add(row.arrayJobId()));
    return ids.isEmpty() ? Optional.empty() : Optional.of(adopted(submission, ids, now));
  }

  /**
   * Returns the event that further jobs with the submission's name were found.
   *
   * <p>The id that sbatch printed stays the submission's job only if a job with that id and name is
   * seen: a wrapper around sbatch may print any number.
   */
  public static Optional<Event> others(
      Submission submission, List<QueueEntry> queued, List<AccountingRecord> rows, Instant now) {
    long jobId = submission.jobId().orElseThrow();
    boolean own = submission.phase() == Phase.CONFIRMED;
    boolean more = false;
    TreeSet<Long> ids = new TreeSet<>(submission.duplicates());
    for (QueueEntry entry : queued) {
      own |= entry.arrayJobId() == jobId;
      boolean counts = submission.phase() == Phase.SUBMITTED || entry.state() != JobState.PENDING;
      more |= counts && entry.arrayJobId() != jobId && ids.add(entry.arrayJobId());
    }
    for (AccountingRecord row : rows) {
      own |= row.arrayJobId() == jobId && row.lived();
      more |= row.arrayJobId() != jobId && row.lived() && ids.add(row.arrayJobId());
    }
    return more
        ? Optional.of(own ? adopted(submission, jobId, ids, now) : adopted(submission, ids, now))
        : Optional.empty();
  }

  private Optional<Event> find(
      Submission submission,
      List<QueueEntry> queued,
      List<AccountingRecord> rows,
      Instant asked,
      Instant now) {
    TreeSet<Long> ids = new TreeSet<>();
    queued.forEach(entry -> ids.add(entry.arrayJobId()));
    // A pending row whose job squeue does not list is a job that slurmctld has lost.
    rows.stream().filter(AccountingRecord::lived).forEach(row -> ids.add(row.arrayJobId()));
    if (!ids.isEmpty()) {
      return Optional.of(adopted(submission, ids, now));
    }
    Optional<Boolean> alive = submission.client().flatMap(client -> client.alive());
    if (alive.orElseGet(() -> asked.isBefore(submission.intended().plus(rules.blindWindow())))) {
      return Optional.empty();
    }
    // Needs two looks: a controller that hung may answer squeue before it handles sbatch's request.
    // A time in the future was written by a fast clock; waiting for it would take too long.
    if (submission.clientGone().isEmpty() || submission.clientGone().get().isAfter(now)) {
      return Optional.of(
          new Event(Event.Type.CLIENT_GONE, now, new JsonObject().with("key", submission.key())));
    }
    return asked.isBefore(submission.clientGone().get().plus(rules.window()))
        ? Optional.empty()
        : Optional.of(closed(submission, now));
  }

  private static Event adopted(Submission submission, SortedSet<Long> ids, Instant now) {
    return adopted(submission, ids.first(), ids.tailSet(ids.first() + 1), now);
  }

  private static Event adopted(
      Submission submission, long jobId, SortedSet<Long> others, Instant now) {
    JsonObject data =
        new JsonObject()
            .with("key", submission.key())
            .with("job_id", jobId)
            .with("duplicates", others.stream().map(String::valueOf).toList());
    return new Event(Event.Type.ADOPTED, now, data);
  }

  /** Returns the event that a job was found because it claimed the submission's work. */
  public static Event adopted(Submission submission, long jobId, Instant now) {
    return adopted(submission, jobId, new TreeSet<>(), now);
  }

  private Optional<Event> confirm(
      Submission submission,
      List<QueueEntry> queued,
      List<AccountingRecord> rows,
      Instant asked,
      Instant now) {
    long jobId = submission.jobId().orElseThrow();
    Instant answered = submission.answered().orElseThrow();
    boolean saved = !asked.isBefore(answered.plus(SettleRules.SAVE_WINDOW));
    boolean inQueue = queued.stream().anyMatch(entry -> entry.arrayJobId() == jobId);
    // A start without an end is not enough: slurmctld can lose a job that began at once, and its
    // row in accounting then says RUNNING forever.
    boolean ran = rows.stream().anyMatch(row -> row.arrayJobId() == jobId && row.ended());
    if (ran || (inQueue && saved)) {
      JsonObject data = new JsonObject().with("key", submission.key()).with("job_id", jobId);
      return Optional.of(new Event(Event.Type.CONFIRMED, now, data));
    }
    boolean tooEarly = asked.isBefore(answered.plus(rules.window()));
    return inQueue || tooEarly ? Optional.empty() : Optional.of(closed(submission, now));
  }

  /** Returns the event that the submission has no job, or none that will work. */
  public static Event closed(Submission submission, Instant now) {
    String message =
        submission
            .jobId()
            .map(id -> "job " + id + " vanished: Slurm answered with its id and lost it")
            .orElse("no job was made");
    return new Event(
        Event.Type.CLOSED,
        now,
        new JsonObject().with("key", submission.key()).with("message", message));
  }
}
