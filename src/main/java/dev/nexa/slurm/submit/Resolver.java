package dev.nexa.slurm.submit;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.journal.Submission.Phase;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.QueueEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Decides what became of a submission whose job is not confirmed, from what squeue and accounting
 * say of its name. Pure: it answers with the event to write, or with none where it is too early to
 * tell.
 */
public final class Resolver {
  private final SettleRules rules;

  public Resolver(SettleRules rules) {
    this.rules = rules;
  }

  /**
   * The next event of the submission.
   *
   * @param queued squeue's entries of this name
   * @param rows accounting's rows of this name
   * @param asked when squeue was asked: what it did not say can only be held against a deadline
   *     that was over then
   */
  public Optional<Event> resolve(
      Submission submission,
      List<QueueEntry> queued,
      List<AccountingRecord> rows,
      Instant asked,
      Instant now) {
    return submission.unresolved()
        ? find(submission, queued, rows, asked, now)
        : submission.phase() == Phase.SUBMITTED
            ? confirm(submission, queued, rows, asked, now)
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
    rows.stream().filter(Resolver::lived).forEach(row -> ids.add(row.arrayJobId()));
    if (!ids.isEmpty()) {
      return Optional.of(adopted(submission, ids, now));
    }
    Optional<Boolean> alive = submission.client().flatMap(client -> client.alive());
    boolean mayLive =
        alive.orElseGet(() -> asked.isBefore(submission.intended().plus(rules.blindWindow())));
    if (mayLive) {
      return Optional.empty();
    }
    // Never closed on one look: a controller that hung may answer squeue before it works off
    // sbatch.
    // Nor by what was written while this clock was ahead: it would be waited for until then.
    if (submission.clientGone().isEmpty() || submission.clientGone().get().isAfter(now)) {
      return Optional.of(
          new Event(Event.Type.CLIENT_GONE, now, new JsonObject().with("key", submission.key())));
    }
    return asked.isBefore(submission.clientGone().get().plus(rules.window()))
        ? Optional.empty()
        : Optional.of(closed(submission, now));
  }

  private static Event adopted(Submission submission, SortedSet<Long> ids, Instant now) {
    List<String> duplicates = new ArrayList<>();
    ids.stream().skip(1).forEach(id -> duplicates.add(id.toString()));
    JsonObject data =
        new JsonObject()
            .with("key", submission.key())
            .with("job_id", ids.first())
            .with("duplicates", duplicates);
    return new Event(Event.Type.ADOPTED, now, data);
  }

  private Optional<Event> confirm(
      Submission submission,
      List<QueueEntry> queued,
      List<AccountingRecord> rows,
      Instant asked,
      Instant now) {
    long jobId = submission.jobId().orElseThrow();
    Instant answered = submission.answered().orElseThrow();
    boolean saved = !asked.isBefore(answered.plus(rules.saveWindow()));
    boolean inQueue = queued.stream().anyMatch(entry -> entry.arrayJobId() == jobId);
    // A start without an end is not enough: a job that began at once is lost like any other, and
    // its
    // row says RUNNING for ever.
    boolean ran = rows.stream().anyMatch(row -> row.arrayJobId() == jobId && row.ended());
    if (ran || (inQueue && saved)) {
      JsonObject data = new JsonObject().with("key", submission.key()).with("job_id", jobId);
      return Optional.of(new Event(Event.Type.CONFIRMED, now, data));
    }
    boolean tooEarly = asked.isBefore(answered.plus(rules.window()));
    return inQueue || tooEarly ? Optional.empty() : Optional.of(closed(submission, now));
  }

  private static boolean lived(AccountingRecord row) {
    return row.start().isPresent() || row.end().isPresent();
  }

  /** The event that no job of the submission exists or will work. */
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
