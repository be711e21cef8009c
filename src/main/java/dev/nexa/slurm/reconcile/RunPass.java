package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.Journal;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.journal.Submission.Phase;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.submit.CrashPoint;
import dev.nexa.slurm.submit.Resolver;
import dev.nexa.slurm.submit.SettleRules;
import dev.nexa.slurm.submit.SubmitTasks;
import dev.nexa.slurm.units.BillingWeights;
import dev.nexa.slurm.units.IndexRange;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One run in one reconcile pass: settle its submissions, then write what it came to. The one
 * healer.
 */
public final class RunPass {
  /** By how much the clocks of two hosts may differ. */
  private static final Duration CLOCKS = Duration.ofMinutes(5);

  private final Scheduler scheduler;
  private final Policy policy;
  private final Consumer<CrashPoint> passing;
  private final Function<String, Map<String, BillingWeights>> weights;
  private final RunRecords records;

  /**
   * A pass.
   *
   * @param weights of a cluster profile's partitions, by its name; asked only where a run is over
   */
  public RunPass(
      Workspace workspace,
      Scheduler scheduler,
      Policy policy,
      Function<String, Map<String, BillingWeights>> weights,
      Consumer<CrashPoint> passing) {
    this.weights = weights;
    this.scheduler = scheduler;
    this.policy = policy;
    this.passing = passing;
    this.records = new RunRecords(workspace, passing);
  }

  /**
   * Works on the run, if nobody else does; true if anything changed.
   *
   * @param known the run's state that the evidence was gathered for; if it has moved on, the next
   *     pass sees to it
   */
  public boolean reconcile(
      RunFolder run, RunState known, Evidence evidence, List<String> problems) {
    if (run.isOfAnotherUser()) {
      problems.add(run.id() + " is another user's: only that user can reconcile it");
      return false;
    }
    Optional<FileLock> lock = run.lock(Duration.ZERO);
    if (lock.isEmpty()) {
      return false;
    }
    try (FileLock held = lock.get()) {
      RunState state = RunState.of(run.journal().read());
      if (!state.equals(known) || !held.holds()) {
        return false;
      }
      return locked(run, state, evidence, problems);
    }
  }

  private boolean locked(RunFolder run, RunState before, Evidence evidence, List<String> problems) {
    if (before.finished()) {
      records.close(run);
      return true;
    }
    boolean staged = Files.exists(run.plan()) && Files.exists(run.estimate());
    if (!staged && before.submissions().isEmpty()) {
      records.abandon(run, before);
      return true;
    }
    RunFacts facts = RunFacts.of(run);
    boolean settled = settle(run, facts, before, evidence, problems);
    RunState state = settled ? RunState.of(run.journal().read()) : before;
    // A job that was just found by its name may have ended already.
    if (settled && settle(run, facts, state, evidence, problems)) {
      state = RunState.of(run.journal().read());
    }
    for (Submission submission : state.submissions()) {
      cancelStrays(submission, evidence.queue(submission), state.cancelRequested());
    }
    tellNeverSatisfied(run, evidence.queue(state), problems);
    boolean more = submitMore(run, facts, state, evidence, problems);
    if (more) {
      state = RunState.of(run.journal().read());
    }
    RunOutcome outcome = evidence.outcome(run, facts, state, problems);
    if (outcome.ended()) {
      outcome = compared(run, state, outcome, problems);
    }
    if (outcome.ended() && !state.cancelRequested()) {
      outcome = lookedForAgain(run, facts, state, outcome, evidence);
    }
    Optional<String> overrun = CostRecord.overrun(facts, state, outcome);
    if (overrun.isPresent()) {
      problems.add(run.id() + " " + overrun.get());
    }
    if (outcome.ended() && facts.kept().isPresent() && state.durableBytes().isEmpty()) {
      state = measured(run, facts.kept().get(), state, problems);
    }
    if (outcome.ended()) {
      tellBilling(run, facts, outcome, problems);
    }
    return records.write(run, facts, state, outcome, credited(policy), problems) || settled || more;
  }

  /** Once a run, when it is settled; `audit` tells it at any time. */
  private void tellBilling(
      RunFolder run, RunFacts facts, RunOutcome outcome, List<String> problems) {
    boolean billed = false;
    for (AccountingRecord row : outcome.attempts()) {
      billed |= BillingWeights.told(row.allocTres()).isPresent();
      if (billed) {
        break;
      }
    }
    Map<String, BillingWeights> own = billed ? weights.apply(facts.cluster()) : Map.of();
    for (String disagreement : Billing.disagreements(outcome.attempts(), own)) {
      problems.add(
          run.id()
              + ": "
              + disagreement
              + "; the cost is by the price book all the same. If the weights have changed, `nexa-slurm"
              + " init` tells the partition's billing_weights of today");
    }
  }

  /**
   * Tasks that were neither queued nor accounted for count as cancelled while they waited. A queue
   * that shows nothing once may be wrong, so they are looked for again after the settle window.
   */
  private RunOutcome lookedForAgain(
      RunFolder run, RunFacts facts, RunState state, RunOutcome outcome, Evidence evidence) {
    Duration window = SettleRules.of(facts.messageTimeout(), policy.settleWindow()).window();
    Map<Integer, Submission> newest = state.newest();
    Set<String> asked = new HashSet<>();
    boolean wait = false;
    for (TaskOutcome task : outcome.tasks()) {
      Submission submission = newest.get(task.task());
      boolean unseen = task.attempts().isEmpty() && task.state() == JobState.CANCELLED;
      if (!unseen || submission == null || submission.failed()) {
        continue;
      }
      if (submission.missed().isEmpty() && asked.add(submission.key())) {
        JsonObject data = new JsonObject().with("key", submission.key());
        run.journal().append(Event.now(Event.Type.MISSED, data));
      }
      Instant missed = submission.missed().orElse(Instant.MAX.minus(window));
      wait |= evidence.asked().isBefore(missed.plus(window));
    }
    return wait ? outcome.disagreeing(outcome.disagreements(), true) : outcome;
  }

  /** What the jobs left against what accounting tells; it may be late, and then the run waits. */
  private static RunOutcome compared(
      RunFolder run, RunState state, RunOutcome outcome, List<String> problems) {
    Witnesses witnesses = Witnesses.of(run, state, outcome);
    boolean wait = witnesses.accountingMayBeLate(outcome, Instant.now());
    for (String missing : witnesses.told()) {
      problems.add(run.id() + ": " + missing + (wait ? "; waiting for accounting" : ""));
    }
    boolean early = isYetToCome(outcome);
    if (early) {
      problems.add(
          run.id()
              + ": accounting tells of an end at "
              + Manifest.ended(outcome).orElseThrow()
              + ", which is yet to come by this host's clock; waiting for it");
    }
    return outcome.disagreeing(witnesses.told(), wait || early);
  }

  /** One of two clocks is wrong: nothing final is made of that. */
  static boolean isYetToCome(RunOutcome outcome) {
    Instant latest = Instant.now().plus(CLOCKS);
    return Manifest.ended(outcome).map(latest::isBefore).orElse(false);
  }

  /** What its durable files hold now is what they are charged for, also when it is audited. */
  private static RunState measured(
      RunFolder run, RunFacts.Kept kept, RunState state, List<String> problems) {
    try {
      JsonObject data =
          new JsonObject()
              .with("durable_bytes", DurableFiles.bytesUnder(Path.of(kept.checkpoints())));
      run.journal().append(Event.now(Event.Type.MEASURED, data));
      return RunState.of(run.journal().read());
    } catch (UncheckedIOException unreadable) {
      problems.add(run.id() + ": " + unreadable.getMessage() + "; its storage is not charged");
      return state;
    }
  }

  /** The states whose attempts the cluster pays for. */
  static Set<JobState> credited(Policy policy) {
    Set<JobState> credited = EnumSet.noneOf(JobState.class);
    for (String state : policy.credited()) {
      credited.add(JobState.valueOf(state));
    }
    return credited;
  }

  /** What was lost, and parts of the run that nobody has submitted yet; true if anything was. */
  private boolean submitMore(
      RunFolder run, RunFacts facts, RunState state, Evidence evidence, List<String> problems) {
    SubmitTasks submit = new SubmitTasks(scheduler, passing);
    boolean unsettled = false;
    boolean submitted = false;
    List<Submission> round =
        state.submissions().subList(state.submissionsBefore(), state.submissions().size());
    for (int i = 0; i < round.size(); i++) {
      Submission submission = round.get(i);
      unsettled |= submission.unresolved();
      boolean lost =
          submission.phase() == Phase.CLOSED
              && !madeAgain(submission, round.subList(i + 1, round.size()));
      if (lost && mayRetry(submission, state, evidence)) {
        passing.accept(CrashPoint.SUBMISSION_CLOSED);
        problems.add(run.id() + ": " + submission.message() + "; submitted again");
        submit.again(run, facts.array(), submission);
        submitted = true;
      }
    }
    // What follows a submission that was just made again must know its job: the next pass does.
    IndexRange open = state.unsubmitted(facts.tasks(), facts.array().chain());
    return submitted
        || (!unsettled
            && !open.indices().isEmpty()
            && submit.rest(run, facts.array(), state, open));
  }

  private static boolean madeAgain(Submission lost, List<Submission> later) {
    for (Submission submission : later) {
      if (isSame(submission, lost)) {
        return true;
      }
    }
    return false;
  }

  /** Whether they hold the same tasks, as the same link of a chain. */
  private static boolean isSame(Submission one, Submission other) {
    return one.tasks().equals(other.tasks()) && one.dependency().equals(other.dependency());
  }

  /** squeue's reason of a job that waits for one that did not end as it should have (squeue(1)). */
  private static void tellNeverSatisfied(
      RunFolder run, List<QueueEntry> queue, List<String> problems) {
    for (QueueEntry entry : queue) {
      if (entry.reason().equals("DependencyNeverSatisfied")) {
        problems.add(
            run.id()
                + " will never start: what it waits for did not end as needed;"
                + " `nexa-slurm cancel "
                + run.id()
                + "` ends it");
        return;
      }
    }
  }

  /**
   * Writes down what became of submissions that were not confirmed; true if anything became known.
   */
  private boolean settle(
      RunFolder run, RunFacts facts, RunState state, Evidence evidence, List<String> problems) {
    SettleRules rules = SettleRules.of(facts.messageTimeout(), policy.settleWindow());
    Resolver resolver = new Resolver(rules);
    Journal journal = run.journal();
    boolean settled = false;
    for (Submission submission : state.submissions()) {
      List<QueueEntry> queued = evidence.queue(submission);
      // What can't be read is told once, with the outcome.
      List<AccountingRecord> rows =
          submission.isOpen()
              ? evidence.rows(run, facts, submission, new ArrayList<>())
              : List.of();
      Instant now = Instant.ofEpochMilli(System.currentTimeMillis());
      Optional<Event> event =
          isShut(run, submission)
              ? Optional.of(Resolver.closed(submission, now))
              : resolver.resolve(submission, queued, rows, evidence.asked(), now);
      passing.accept(CrashPoint.LOOKED_UP);
      if (event.isPresent() && event.get().type() == Event.Type.CLOSED) {
        event = closing(event.get(), run, submission, rules, evidence, state, problems);
      }
      event.ifPresent(journal::append);
      settled |= event.isPresent();
    }
    return settled;
  }

  /** Whether a pass shut it and died before it could write that down. */
  private static boolean isShut(RunFolder run, Submission submission) {
    return submission.isOpen() && run.isShut(submission.key());
  }

  /**
   * What the scheduler does not show may have been, or still come: a submission is closed so that
   * no job of it can begin. Where one has begun, it is over and accounting is late, or it was lost
   * with its controller.
   */
  private Optional<Event> closing(
      Event closed,
      RunFolder run,
      Submission submission,
      SettleRules rules,
      Evidence evidence,
      RunState state,
      List<String> problems) {
    String key = submission.key();
    if (run.shut(key)) {
      passing.accept(CrashPoint.SUBMISSION_SHUT);
      return Optional.of(closed);
    }
    if (state.cancelRequested()) {
      return Optional.of(closed);
    }
    if (run.claimsEnded(key) || !evidence.accountingKept()) {
      problems.add("a job of " + key + " has begun, and nothing shows its end yet: waiting");
      return Optional.empty();
    }
    if (submission.missed().isEmpty()) {
      JsonObject data = new JsonObject().with("key", key);
      return Optional.of(new Event(Event.Type.MISSED, closed.at(), data));
    }
    boolean tooEarly = evidence.asked().isBefore(submission.missed().get().plus(rules.window()));
    return tooEarly ? Optional.empty() : Optional.of(closed);
  }

  /**
   * Further jobs of the same name that have not begun; and every job of a run whose end was asked
   * for.
   */
  private void cancelStrays(
      Submission submission, List<QueueEntry> queued, boolean cancelRequested) {
    long lowest = queued.stream().mapToLong(QueueEntry::arrayJobId).min().orElse(0);
    long kept = submission.phase() == Phase.CLOSED ? 0 : submission.jobId().orElse(lowest);
    Set<Long> begun = new HashSet<>();
    Set<Long> active = new TreeSet<>();
    for (QueueEntry entry : queued) {
      if (entry.active()) {
        active.add(entry.arrayJobId());
      }
      if (entry.state() != JobState.PENDING) {
        begun.add(entry.arrayJobId());
      }
    }
    for (long id : active) {
      if (cancelRequested || (id != kept && !begun.contains(id))) {
        scheduler.cancel(submission.key(), id, OptionalInt.empty());
      }
    }
  }

  /**
   * Whether policy allows to submit its tasks once more. Where no accounting is kept, a job that
   * had an id and never began may also have been cancelled by its owner.
   */
  private boolean mayRetry(Submission lost, RunState state, Evidence evidence) {
    int closed = 0;
    for (Submission submission : state.submissions()) {
      closed += isSame(submission, lost) && submission.phase() == Phase.CLOSED ? 1 : 0;
    }
    boolean known = evidence.accountingKept() || lost.jobId().isEmpty();
    return known && !state.cancelRequested() && closed <= policy.maxResubmits();
  }
}
