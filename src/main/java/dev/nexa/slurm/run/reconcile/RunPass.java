package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.diagnostics.Diagnosis;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.RunFiles;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.Journal;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.StorageClaims;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.lookup.LostFolder;
import dev.nexa.slurm.run.submit.CrashPoint;
import dev.nexa.slurm.run.submit.SettleRules;
import dev.nexa.slurm.run.submit.SubmissionResolver;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
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
import java.util.stream.Collectors;

/**
 * Makes one reconcile pass over one run: settles its submissions, submits lost tasks again, and
 * writes its records.
 */
public final class RunPass {
  /** How much the clocks of two hosts may differ. */
  static final Duration CLOCKS = Duration.ofMinutes(5);

  /** How many claiming jobs of a lost submission are looked up; one that still runs is enough. */
  private static final int MOST_HOLDERS = 20;

  private final Scheduler scheduler;
  private final Policy policy;
  private final Consumer<CrashPoint> passing;
  private final Function<String, Map<String, BillingWeights>> weights;
  private final RunRecords records;
  private final SubmitOpenTasks openTasks;
  private final Workspace workspace;
  private final Set<RunId> stuck = new HashSet<>();

  /**
   * Makes a pass.
   *
   * @param weights returns the billing weights of a cluster profile's partitions; called only for
   *     runs that have ended
   */
  public RunPass(
      Workspace workspace,
      Scheduler scheduler,
      Policy policy,
      Function<String, Map<String, BillingWeights>> weights,
      Consumer<CrashPoint> passing) {
    this.workspace = workspace;
    this.weights = weights;
    this.scheduler = scheduler;
    this.policy = policy;
    this.passing = passing;
    this.records =
        new RunRecords(workspace, passing, Optional.of(new EndNotice(workspace, policy)));
    this.openTasks = new SubmitOpenTasks(workspace, scheduler, policy, passing);
  }

  /**
   * Processes the run, unless another process holds its lock.
   *
   * @param known the run's state when the evidence was gathered; if the state has changed since,
   *     nothing happens until the next pass
   * @return true if anything changed
   */
  public boolean reconcile(
      RunFolder run, RunState known, TaskEvidence evidence, List<String> problems) {
    if (LostFolder.is(run)) {
      problems.add(LostFolder.sentence(run) + "; restore the folder from a backup");
      return false;
    }
    if (run.isBeingMade()) {
      return false;
    }
    if (run.isOfAnotherUser()) {
      problems.add(run.id() + " belongs to " + run.owner() + ": only that user can reconcile it");
      return false;
    }
    if (!run.exists()) {
      // Its submitter died before it made the folder. The run ends as one that was never submitted.
      run.make();
    }
    try (FileLock held = run.lock(Duration.ZERO).orElse(null)) {
      if (held == null) {
        return false;
      }
      List<Event> events = run.journal().read();
      RunState state = RunState.of(events);
      if (!state.equals(known) || !held.holds()) {
        return false;
      }
      ProvenFiles files = ProvenFiles.of(run, events);
      boolean changed = reconcileLocked(run, files, state, evidence, problems);
      if (changed && !run.isOpen()) {
        run.tidy(held);
        giveBack(run, files, state);
        copyRecords(run, files, state, problems);
        listFiles(run, files, state, problems);
      }
      return changed;
    }
  }

  /**
   * Releases the ended run's name on the scratch tier; if nothing was ever submitted, on all tiers.
   */
  private static void giveBack(RunFolder run, ProvenFiles files, RunState state) {
    if (Files.exists(run.plan())) {
      StorageClaims tiers = new StorageClaims(files.plan().storage());
      if (state.submissions().isEmpty()) {
        tiers.release(run);
      } else {
        tiers.releaseScratch(run);
      }
    }
  }

  /** Copies the records of a run that has just ended to the durable tier. */
  private static void copyRecords(
      RunFolder run, ProvenFiles files, RunState state, List<String> problems) {
    if (Files.exists(run.plan()) && !state.submissions().isEmpty()) {
      new DurableCopies(run, files.plan().storage())
          .write()
          .ifPresent(
              why ->
                  problems.add(why + "; `nexa-slurm audit --repair " + run.id() + "` copies them"));
    }
  }

  /** Lists what a stage of a pipeline has written, for {@code pipeline run --reuse}. */
  private static void listFiles(
      RunFolder run, ProvenFiles files, RunState state, List<String> problems) {
    if (state.pipeline().isEmpty() || state.submissions().isEmpty()) {
      return;
    }
    PlanFile plan = files.plan();
    // A host without the tier would find no files.
    if (Files.isDirectory(Path.of(plan.storage().durable()))) {
      try {
        RunFiles.OUTPUT.keep(run, RunFiles.OUTPUT.now(run, plan));
        RunFiles.CHECKPOINT.keep(run, RunFiles.CHECKPOINT.now(run, plan));
      } catch (UncheckedIOException | InvalidPathException failed) {
        problems.add(
            "%s: %s; `pipeline run --reuse` runs the stage again"
                .formatted(run.id(), failed.getMessage()));
      }
    }
  }

  private boolean reconcileLocked(
      RunFolder run,
      ProvenFiles files,
      RunState before,
      TaskEvidence evidence,
      List<String> problems) {
    if (before.finished()) {
      workspace.markClosed(run.id());
      return true;
    }
    requireWhole(run, before);
    if (isOfNoPipeline(before)) {
      run.journal().append(Event.now(Event.Type.CANCEL_REQUESTED, new JsonObject()));
      return reconcileLocked(run, files, RunState.of(run.journal().read()), evidence, problems);
    }
    boolean staged = Files.exists(run.plan()) && Files.exists(run.estimate());
    if (!staged && before.submissions().isEmpty()) {
      records.abandon(run, before);
      return true;
    }
    RunFacts facts = RunFacts.of(run, files);
    boolean settled = settle(run, facts, before, evidence, problems);
    RunState state = settled ? RunState.of(run.journal().read()) : before;
    // A job that was just found by its name may have ended already.
    if (settled && settle(run, facts, state, evidence, problems)) {
      state = RunState.of(run.journal().read());
    }
    for (Submission submission : state.submissions()) {
      cancelStrays(submission, evidence.queue(submission), state.cancelRequested());
    }
    if (state.pipeline().isEmpty()) {
      tellNeverSatisfied(run, evidence.queue(state), problems);
    }
    SubmitOpenTasks.Result more = openTasks.submit(run, files, facts, state, evidence, problems);
    if (more.submitted()) {
      state = RunState.of(run.journal().read());
    }
    RunOutcome outcome = evidence.outcome(run, facts, state, problems);
    outcome.disagreements().forEach(doubt -> problems.add(run.id() + ": " + doubt));
    boolean diagnosed = run.id().value().startsWith(Diagnosis.STAGE + "_") && outcome.ended();
    if (diagnosed
        || outcome.attempts().size() > outcome.counts().getOrDefault(JobState.COMPLETED, 0)) {
      new NodeFailures(scheduler).remember(run, files.plan(), state, outcome, problems);
    }
    boolean grew =
        !facts.work().grown().isEmpty()
            && !state.cancelRequested()
            && new GrowTasks(scheduler)
                .grow(run, facts, state, outcome, evidence.asked(), problems);
    if (more.waits() || grew) {
      outcome = outcome.disagreeing(outcome.disagreements(), true);
    }
    if (outcome.ended()) {
      SourceComparison witnesses = SourceComparison.of(run, state, outcome);
      if (findByName(run, state, witnesses.misnamed())) {
        return true;
      }
      outcome = compared(run, witnesses, outcome, problems);
    }
    outcome = withoutDoubt(run, state, outcome, evidence, problems);
    outcome = withinLimits(run, facts, state, outcome, evidence.asked(), problems);
    if (outcome.ended() && !state.cancelRequested()) {
      outcome = waitForMissing(run, facts, state, outcome, evidence);
    }
    CostRecord.overrun(facts, state, outcome)
        .ifPresent(over -> problems.add(run.id() + " " + over));
    if (outcome.ended() && facts.kept().isPresent() && state.durableBytes().isEmpty()) {
      state = measureDurable(run, facts.kept().get(), state, problems);
    }
    if (outcome.ended()) {
      tellBilling(run, facts, outcome, problems);
    }
    return records.write(run, facts, state, outcome, credited(policy), problems)
        || settled
        || more.submitted();
  }

  /**
   * Rejects a journal that has fewer submissions than the manifest that was made from it: the jobs
   * of the lost lines, and their cost, would be forgotten.
   */
  private static void requireWhole(RunFolder run, RunState journal) {
    if (Files.notExists(run.manifest())) {
      return;
    }
    int known;
    try {
      known = ManifestFile.read(run).submissions().size();
    } catch (IllegalArgumentException | UncheckedIOException notWritten) {
      // A missing or broken manifest is written again below.
      return;
    }
    if (known > journal.submissions().size()) {
      throw ErrorCode.JOURNAL_DAMAGED.error(
          ("%s has %s submissions, %s was made from %s: lines of the journal are missing;"
                  + " restore it from a backup, see `nexa-slurm explain docs/recovery.md`")
              .formatted(
                  run.path().resolve("journal.jsonl"),
                  journal.submissions().size(),
                  run.manifest(),
                  known));
    }
  }

  /**
   * Reports differences to Slurm's billing once, when the run ends. `audit` reports them at any
   * time.
   */
  private void tellBilling(
      RunFolder run, RunFacts facts, RunOutcome outcome, List<String> problems) {
    boolean billed =
        outcome.attempts().stream()
            .anyMatch(row -> BillingWeights.told(row.allocTres()).isPresent());
    Map<String, BillingWeights> own = billed ? weights.apply(facts.place().cluster()) : Map.of();
    for (String disagreement : BillingCheck.disagreements(outcome.attempts(), own)) {
      problems.add(
          ("%s: %s; the cost is by the price book all the same. If the weights have changed,"
                  + " `nexa-slurm init` tells the partition's billing_weights of today")
              .formatted(run.id(), disagreement));
    }
  }

  /**
   * Keeps the run unfinished until tasks without a queue entry and a row have been missing for the
   * settle window.
   *
   * <p>Such tasks count as cancelled while they waited, but a single empty answer of squeue may be
   * wrong.
   */
  private RunOutcome waitForMissing(
      RunFolder run, RunFacts facts, RunState state, RunOutcome outcome, TaskEvidence evidence) {
    Duration window =
        SettleRules.of(facts.place().messageTimeout(), policy.repeats().settleWindow()).window();
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

  /** Compares the jobs' own results with accounting. Accounting may be late; the run then waits. */
  private static RunOutcome compared(
      RunFolder run, SourceComparison witnesses, RunOutcome outcome, List<String> problems) {
    boolean wait = witnesses.accountingMayBeLate(outcome, Instant.now());
    String waiting = wait ? "; waiting for accounting" : "";
    witnesses.told().forEach(missing -> problems.add(run.id() + ": " + missing + waiting));
    boolean early = isYetToCome(outcome);
    if (early) {
      problems.add(
          ("%s: accounting reports an end at %s, which is yet to come by this host's clock;"
                  + " waiting for it")
              .formatted(run.id(), outcome.end().orElseThrow()));
    }
    return outcome.disagreeing(witnesses.told(), wait || early);
  }

  /** Reports rows that contradict themselves. The run waits while they may still be corrected. */
  private static RunOutcome withoutDoubt(
      RunFolder run,
      RunState state,
      RunOutcome outcome,
      TaskEvidence evidence,
      List<String> problems) {
    List<String> faults = evidence.disagreements(state, List.of());
    faults.forEach(fault -> problems.add(run.id() + ": " + fault));
    return faults.isEmpty()
        ? outcome
        : outcome.disagreeing(
            evidence.disagreements(state, outcome.disagreements()),
            outcome.ended() && evidence.isInDoubt(state));
  }

  /**
   * Lets the run wait for a week if accounting says that an attempt took a day more than its limit,
   * and no result of the job says so. Somebody can have raised the limit of a job that was killed.
   */
  private static RunOutcome withinLimits(
      RunFolder run,
      RunFacts facts,
      RunState state,
      RunOutcome outcome,
      Instant now,
      List<String> problems) {
    for (AccountingRecord row : outcome.attempts()) {
      if (FaultyRow.isFarOver(row, facts.work().longestLimit(), now)
          && !saysSo(run, facts, state, row)) {
        problems.add(
            ("%s: job %s took %d s by accounting, its limit is %d s, and it left no result of such a"
                    + " time; its run waits until that row is fixed in slurmdbd's database, or is"
                    + " charged so a week after its End")
                .formatted(
                    run.id(),
                    row.shownId(),
                    row.elapsedSeconds(),
                    facts.work().longestLimit().toSeconds()));
        return outcome.disagreeing(outcome.disagreements(), outcome.ended());
      }
    }
    return outcome;
  }

  /** Returns whether a result of the row's task says that an attempt took nearly as long. */
  private static boolean saysSo(
      RunFolder run, RunFacts facts, RunState state, AccountingRecord row) {
    List<AccountingRecord> own = new ArrayList<>();
    for (Submission submission : state.submissions()) {
      own.addAll(
          new ResultsAsAccounting(run, facts, submission, List.of(), List.of(), new ArrayList<>())
              .rows(row.end().orElseThrow()));
    }
    own.removeIf(result -> !result.tasks().equals(row.tasks()));
    long least = row.elapsedSeconds() - CLOCKS.toSeconds();
    return own.stream().anyMatch(result -> result.elapsedSeconds() >= least);
  }

  /**
   * Finds by name the job that did the work of a submission whose known job ended at once.
   *
   * @return true if such a job was found; the next pass uses it
   */
  private boolean findByName(RunFolder run, RunState state, Set<String> keys) {
    boolean found = false;
    for (Submission submission : state.submissions()) {
      if (keys.contains(submission.key())) {
        List<AccountingRecord> rows = new ArrayList<>();
        AccountingQuery query =
            AccountingQuery.byNames(List.of(submission.key()), submission.intended());
        scheduler.accounting(query, rows::add);
        rows.removeIf(row -> !row.name().equals(submission.key()));
        Instant now = Instant.ofEpochMilli(System.currentTimeMillis());
        Optional<Event> event = SubmissionResolver.others(submission, List.of(), rows, now);
        event.ifPresent(run.journal()::append);
        found |= event.isPresent();
      }
    }
    return found;
  }

  /**
   * Returns whether the end is in the future, which means that a clock is wrong. Such a run is not
   * made final.
   */
  public static boolean isYetToCome(RunOutcome outcome) {
    Instant latest = Instant.now().plus(CLOCKS);
    return outcome.end().map(latest::isBefore).orElse(false);
  }

  /** Records the size of the run's durable files. The cost and later audits use this size. */
  private static RunState measureDurable(
      RunFolder run, RunFacts.Kept kept, RunState state, List<String> problems) {
    Path checkpoints = Path.of(kept.checkpoints());
    // A host without the storage tier would measure zero, and the files would be free.
    if (Files.notExists(checkpoints.resolve("../..").normalize())) {
      return state;
    }
    try {
      JsonObject data =
          new JsonObject().with("durable_bytes", DurableFiles.bytesUnder(checkpoints));
      run.journal().append(Event.now(Event.Type.MEASURED, data));
      return RunState.of(run.journal().read());
    } catch (UncheckedIOException unreadable) {
      problems.add(run.id() + ": " + unreadable.getMessage() + "; its storage is not charged");
      return state;
    }
  }

  /** Returns the states whose attempts the cluster pays for. */
  public static Set<JobState> credited(Policy policy) {
    return policy.credited().stream()
        .map(JobState::valueOf)
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(JobState.class)));
  }

  /**
   * Returns whether the run's submitter died before its pipeline was complete on disk. No stage of
   * such a pipeline is submitted.
   */
  private boolean isOfNoPipeline(RunState state) {
    return state.pipeline().isPresent()
        && state.submissions().isEmpty()
        && !state.cancelRequested()
        && !workspace.pipeline(state.pipeline().get()).exists();
  }

  /** Returns the runs without a pipeline that had a task which can never start. */
  public Set<RunId> stuck() {
    return Set.copyOf(stuck);
  }

  /** Reports a job that waits for what cannot happen any more. */
  private void tellNeverSatisfied(RunFolder run, List<QueueEntry> queue, List<String> problems) {
    if (queue.stream().anyMatch(QueueEntry::neverStarts)) {
      stuck.add(run.id());
      problems.add(
          ("%s will never start: what it waits for did not end as needed; `nexa-slurm cancel"
                  + " %s` ends it")
              .formatted(run.id(), run.id()));
    }
  }

  /**
   * Records the results of submissions that are not confirmed.
   *
   * @return true if the journal has a new event
   */
  private boolean settle(
      RunFolder run, RunFacts facts, RunState state, TaskEvidence evidence, List<String> problems) {
    SubmissionResolver resolver =
        new SubmissionResolver(
            SettleRules.of(facts.place().messageTimeout(), policy.repeats().settleWindow()));
    Journal journal = run.journal();
    boolean settled = false;
    for (Submission submission : state.submissions()) {
      List<QueueEntry> queued = evidence.queue(submission);
      // Problems with results are reported once, with the outcome.
      List<AccountingRecord> rows =
          submission.isOpen() || (submission.doubted() && evidence.accountingKept())
              ? evidence.rows(run, facts, submission, new ArrayList<>())
              : List.of();
      Instant now = Instant.ofEpochMilli(System.currentTimeMillis());
      Optional<Event> event =
          submission.isOpen() && run.isShut(submission.key())
              // An earlier pass shut the submission and died before it recorded that.
              ? Optional.of(SubmissionResolver.closed(submission, now))
              : submission.failed()
                  ? findLateJob(run, state, submission, evidence, now)
                  : resolver.resolve(submission, queued, rows, evidence.asked(), now);
      passing.accept(CrashPoint.LOOKED_UP);
      if (event.isPresent() && event.get().type() == Event.Type.CLOSED) {
        event = closing(event.get(), run, submission, evidence, state, problems);
      }
      if (event.isEmpty() && submission.phase() == Submission.Phase.CONFIRMED) {
        event = lost(run, submission, evidence, now);
      }
      event.ifPresent(journal::append);
      settled |= event.isPresent();
    }
    return settled;
  }

  /**
   * Returns the event that a job of a refused or closed submission exists after all, if that job
   * may work: the submission was not shut, and its tasks were not submitted again.
   */
  public static Optional<Event> findLateJob(
      RunFolder run, RunState state, Submission submission, TaskEvidence evidence, Instant now) {
    List<Submission> all = state.submissions();
    List<Submission> later = all.subList(all.indexOf(submission) + 1, all.size());
    boolean over =
        !submission.failed()
            || run.isShut(submission.key())
            || SubmitOpenTasks.madeAgain(submission, later);
    return over || !evidence.accountingKept()
        ? Optional.empty()
        : SubmissionResolver.found(
            submission, evidence.queue(submission), evidence.accountingRows(submission), now);
  }

  /**
   * Shuts a submission whose job the scheduler does not show, so that no job of it can begin later.
   *
   * <p>If a job has begun, the submission stays open. The job may have ended while accounting is
   * late. Or it was lost with its controller, and it is not known how far it came.
   */
  private Optional<Event> closing(
      Event closed,
      RunFolder run,
      Submission submission,
      TaskEvidence evidence,
      RunState state,
      List<String> problems) {
    String key = submission.key();
    if (run.shut(key)) {
      passing.accept(CrashPoint.SUBMISSION_SHUT);
      return Optional.of(closed);
    }
    Optional<Event> holder = holder(run, submission, closed.at());
    if (holder.isPresent() || state.cancelRequested()) {
      return Optional.of(holder.orElse(closed));
    }
    if ((run.claimsEnded(key) && !scheduler.accountingIsCurrent()) || !evidence.accountingKept()) {
      problems.add("a job of " + key + " has begun, and nothing shows its end yet: waiting");
      return Optional.empty();
    }
    JsonObject data = new JsonObject().with("key", key);
    return submission.missed().isPresent()
        ? Optional.empty()
        : Optional.of(new Event(Event.Type.MISSED, closed.at(), data));
  }

  /**
   * Returns the event that a confirmed job is lost: squeue, slurmctld and an accounting that is
   * proven current know no end of it. If no task of it has begun, the submission is shut, so that
   * none begins later. Otherwise it is not known how its tasks ended.
   */
  private Optional<Event> lost(
      RunFolder run, Submission submission, TaskEvidence evidence, Instant now) {
    if (!evidence.accountingKept()
        || !evidence.isGone(submission)
        || submission.missed().isPresent()
        || run.isShut(submission.key())) {
      return Optional.empty();
    }
    List<Integer> begun = run.claimed(submission.key());
    List<Long> ids = new ArrayList<>(submission.duplicates());
    ids.add(0, submission.jobId().orElseThrow());
    // In this order: what slurmctld had when it was asked, accounting has when it is asked.
    if (!isOpen(begun, evidence.accountingRows(submission))
        || !scheduler.accountingIsCurrent()
        || ids.stream()
            .flatMap(id -> scheduler.remembered(id).stream())
            .anyMatch(job -> job.row().name().equals(submission.key()))) {
      return Optional.empty();
    }
    List<AccountingRecord> rows = new ArrayList<>();
    scheduler.accounting(
        AccountingQuery.byIds(ids, submission.intended()),
        row -> rows.add(TaskEvidence.numbered(row, submission)));
    rows.removeIf(row -> !row.name().equals(submission.key()) || row.completedUnbegun());
    if (!isOpen(begun, rows)) {
      return Optional.empty();
    }
    if (neverBegan(begun, rows)) {
      return run.shut(submission.key())
          ? Optional.of(SubmissionResolver.closed(submission, now))
          : Optional.empty();
    }
    JsonObject data = new JsonObject().with("key", submission.key());
    return Optional.of(new Event(Event.Type.MISSED, now, data));
  }

  /** Returns whether a task that has begun or has a row has no row with an end. */
  private static boolean isOpen(List<Integer> begun, List<AccountingRecord> rows) {
    Set<Integer> open = new TreeSet<>(begun);
    rows.forEach(row -> open.addAll(row.tasks().indices()));
    rows.stream()
        .filter(AccountingRecord::ended)
        .forEach(row -> open.removeAll(row.tasks().indices()));
    return !open.isEmpty() || neverBegan(begun, rows);
  }

  private static boolean neverBegan(List<Integer> begun, List<AccountingRecord> rows) {
    return begun.isEmpty() && rows.stream().noneMatch(AccountingRecord::lived);
  }

  /**
   * Returns the event for a job that claimed the submission's work and that slurmctld still knows
   * as running.
   */
  private Optional<Event> holder(RunFolder run, Submission submission, Instant now) {
    List<RunFolder.Claim> claims;
    try {
      claims = run.claims(submission.key());
    } catch (UncheckedIOException noClaims) {
      return Optional.empty();
    }
    Set<Long> asked = new HashSet<>();
    for (RunFolder.Claim claim : claims) {
      if (asked.size() < MOST_HOLDERS && asked.add(claim.jobId())) {
        for (ControllerJob job : scheduler.remembered(claim.jobId())) {
          boolean works = !job.row().state().endsTask() && job.row().start().isPresent();
          if (works && job.row().name().equals(submission.key())) {
            return Optional.of(SubmissionResolver.adopted(submission, job.row().arrayJobId(), now));
          }
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Cancels further jobs of the same name that have not begun; cancels all jobs if the run is to be
   * cancelled.
   */
  private void cancelStrays(
      Submission submission, List<QueueEntry> queued, boolean cancelRequested) {
    long lowest = queued.stream().mapToLong(QueueEntry::arrayJobId).min().orElse(0);
    long kept = submission.failed() ? 0 : submission.jobId().orElse(lowest);
    Set<Long> begun =
        queued.stream()
            .filter(entry -> entry.state() != JobState.PENDING)
            .map(QueueEntry::arrayJobId)
            .collect(Collectors.toSet());
    queued.stream()
        .filter(QueueEntry::active)
        .map(QueueEntry::arrayJobId)
        .sorted()
        .distinct()
        .filter(id -> cancelRequested || (id != kept && !begun.contains(id)))
        .forEach(id -> scheduler.cancel(submission.key(), id, OptionalInt.empty()));
  }
}
