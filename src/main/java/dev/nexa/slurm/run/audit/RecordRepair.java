package dev.nexa.slurm.run.audit;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.reconcile.DurableCopies;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.RunPass;
import dev.nexa.slurm.run.reconcile.RunRecords;
import dev.nexa.slurm.run.reconcile.RunRecords.Derived;
import dev.nexa.slurm.run.reconcile.SourceComparison;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.submit.CrashPoint;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Restores or corrects the records (manifest, cost file, ledger line) of a finished run.
 *
 * <p>Never deletes a record that an earlier pass had closed: a changed file is kept beside the
 * restored one.
 */
public final class RecordRepair {
  private final Workspace workspace;
  private final Policy policy;
  private final RunRecords records;

  public RecordRepair(Workspace workspace, Policy policy, Consumer<CrashPoint> passing) {
    this.workspace = workspace;
    this.policy = policy;
    this.records = new RunRecords(workspace, passing);
  }

  /**
   * Derives the run's records again and writes them if they differ from the files.
   *
   * <ul>
   *   <li>Same result as the closed version: restores the files and keeps an edited one as {@code
   *       *.changed}.
   *   <li>Accounting has changed: writes a new version; earlier versions stay.
   *   <li>A job of a submission that was given up has appeared: opens the run again.
   * </ul>
   *
   * @return false without any writing in these cases. Another process holds the run's lock. The
   *     run's plan or estimate was changed. Accounting contradicts itself, lacks rows that an
   *     earlier version was made from, or has rows in the future. The kept cost file is broken and
   *     the closed version cannot be derived
   */
  public boolean correct(RunFolder run, TaskEvidence evidence) {
    return whileLocked(run, events -> correct(run, events, evidence));
  }

  private boolean correct(RunFolder run, List<Event> events, TaskEvidence evidence) {
    RunState state = RunState.of(events);
    if (!state.finished()) {
      return false;
    }
    if (adoptLateJob(run, state, evidence)) {
      return true;
    }
    ProvenFiles files = ProvenFiles.of(run, events);
    if (files.settlementChange().isPresent()) {
      return false;
    }
    RunFacts facts = RunFacts.of(run, files);
    List<String> problems = new ArrayList<>();
    RunOutcome outcome = evidence.outcome(run, facts, state, problems);
    SourceComparison witnesses = SourceComparison.of(run, state, outcome);
    RunOutcome compared =
        outcome.disagreeing(evidence.disagreements(state, witnesses.told()), false);
    if (evidence.isInDoubt(state)
        || !outcome.ended()
        || RunPass.isYetToCome(outcome)
        || hasForgotten(run, state, outcome)) {
      return false;
    }
    RunState before = RunState.of(Audit.beforeEnd(events));
    Optional<Derived> same = Optional.empty();
    for (Derived made : derived(run, facts, before, compared)) {
      boolean cost = state.costDigest().equals(Optional.of(Sha256.of(made.cost().text())));
      boolean manifest =
          manifestDigest(events).equals(Optional.of(Sha256.of(made.manifest().text())));
      if (cost && (same.isEmpty() || manifest)) {
        same = Optional.of(made);
      }
    }
    if (same.isPresent()) {
      records.restore(run, same.get());
      copy(run, files);
      return true;
    }
    if (Files.exists(run.cost()) && readCostFile(run).isEmpty()) {
      // Without a readable cost file it is unknown whether accounting has lost rows.
      return false;
    }
    boolean changed = records.write(run, facts, state, compared, settledCredit(run), problems);
    copy(run, files);
    return changed;
  }

  /**
   * Writes the run's ledger line again, from its manifest and cost file.
   *
   * @return false if another process holds the run's lock, or if a record differs from its digest
   *     in the journal
   */
  public boolean relist(RunFolder run) {
    return whileLocked(
        run,
        events -> {
          RunState state = RunState.of(events);
          if (!state.finished()
              || !Audit.isProven(run.cost(), state.costDigest())
              || !Audit.isProven(run.manifest(), manifestDigest(events))) {
            return false;
          }
          ProvenFiles files = ProvenFiles.of(run, events);
          boolean planned = Files.exists(run.plan()) && files.settlementChange().isEmpty();
          return records.relist(
              run,
              planned ? Optional.of(RunFacts.of(run, files)) : Optional.empty(),
              state,
              ManifestFile.read(run),
              CostFile.read(run));
        });
  }

  /**
   * Copies corrected records. Returns why a copy cannot be written; the next audit notes that, too.
   */
  private static Optional<String> copy(RunFolder run, ProvenFiles files) {
    return Files.exists(run.plan())
        ? new DurableCopies(run, files.plan().storage()).write()
        : Optional.empty();
  }

  /**
   * Writes the copies of a finished run's records on the durable tier again.
   *
   * @return false if another process holds the run's lock, or if the run has not finished
   * @throws NexaException if a copy cannot be written
   */
  public boolean copyAgain(RunFolder run) {
    return whileLocked(
        run,
        events -> {
          if (!RunState.of(events).finished() || Files.notExists(run.plan())) {
            return false;
          }
          Optional<String> problem = copy(run, ProvenFiles.of(run, events));
          if (problem.isPresent()) {
            throw ErrorCode.IO_FAILED.error(problem.get());
          }
          return true;
        });
  }

  private static Optional<String> manifestDigest(List<Event> events) {
    return events.get(events.size() - 1).data().optionalText("manifest_sha256");
  }

  /**
   * Repairs a run that is unfinished in its journal but not among the open runs.
   *
   * <ul>
   *   <li>The records are final and proven: appends the lost {@code finished} line. The proof is
   *       either accounting that gives the same bytes again, or a ledger line that agrees with
   *       records which agree with the journal.
   *   <li>Nothing says that the run had ended: opens it again.
   * </ul>
   *
   * @param listed tests whether the run's newest ledger line agrees with a cost file; empty if the
   *     ledger has no line
   * @return false if neither applies, or if another process holds the run's lock
   */
  public boolean finishAgain(
      RunFolder run, TaskEvidence evidence, Optional<Predicate<CostFile>> listed) {
    return whileLocked(run, events -> finishAgain(run, events, evidence, listed));
  }

  private boolean finishAgain(
      RunFolder run,
      List<Event> events,
      TaskEvidence evidence,
      Optional<Predicate<CostFile>> listed) {
    RunState state = RunState.of(events);
    ProvenFiles files = ProvenFiles.of(run, events);
    if (state.finished() || state.created().isEmpty() || files.settlementChange().isPresent()) {
      return false;
    }
    Optional<ManifestFile> manifest = manifest(run);
    if (listed.isEmpty() && manifest.filter(kept -> kept.status().ended()).isEmpty()) {
      workspace.markOpen(run.id());
      return true;
    }
    Optional<CostFile> cost = readCostFile(run);
    if (manifest.isEmpty() || cost.isEmpty()) {
      return false;
    }
    List<Event> missing = lostMeasurement(state, cost.get());
    List<Event> longer = new ArrayList<>(events);
    longer.addAll(missing);
    RunState before = RunState.of(longer);
    boolean proven =
        isDerived(run, RunFacts.of(run, files), before, evidence)
            || (listed.isPresent()
                && listed.get().test(cost.get())
                && cost.get().version() == before.timesFinished() + 1
                && agree(manifest.get(), cost.get(), before));
    if (proven) {
      records.finishAgain(run, missing, cost.get());
      copy(run, files);
    }
    return proven;
  }

  /** Returns the {@code measured} event if it was lost too: the size of the run's durable files. */
  private static List<Event> lostMeasurement(RunState state, CostFile cost) {
    return cost.durableBytes().stream()
        .filter(bytes -> state.durableBytes().isEmpty())
        .map(it -> Event.now(Event.Type.MEASURED, new JsonObject().with("durable_bytes", it)))
        .toList();
  }

  /** Returns whether the journal and accounting yield the kept records, byte for byte. */
  private boolean isDerived(RunFolder run, RunFacts facts, RunState before, TaskEvidence evidence) {
    RunOutcome outcome = evidence.outcome(run, facts, before, new ArrayList<>());
    if (!outcome.ended() || evidence.isInDoubt(before) || hasForgotten(run, before, outcome)) {
      return false;
    }
    SourceComparison witnesses = SourceComparison.of(run, before, outcome);
    return derived(run, facts, before, outcome.disagreeing(witnesses.told(), false)).stream()
        .filter(same -> Audit.isProven(run.cost(), Optional.of(Sha256.of(same.cost().text()))))
        .anyMatch(
            it -> Audit.isProven(run.manifest(), Optional.of(Sha256.of(it.manifest().text()))));
  }

  /**
   * Returns the possible forms of the records: with and without the profile's sacct_fields, and
   * with the current and the former path of the workspace.
   */
  private List<Derived> derived(
      RunFolder run, RunFacts facts, RunState journal, RunOutcome compared) {
    Set<JobState> credit = settledCredit(run);
    return Stream.of(facts, manifest(run).map(facts::loggingAs).orElse(facts))
        .flatMap(
            named ->
                Stream.of(compared, compared.plain())
                    .map(
                        it ->
                            RunRecords.derive(run, named, journal, it, credit, new ArrayList<>())))
        .toList();
  }

  /** Returns whether both records and the journal describe the same end. */
  private static boolean agree(ManifestFile manifest, CostFile cost, RunState journal) {
    return manifest.status() == cost.status()
        && manifest.cost().filter(kept -> kept.compareTo(cost.total()) == 0).isPresent()
        && manifest.hasSubmissions(journal);
  }

  /**
   * Repairs a run whose lock no other process has.
   *
   * @param repair gets the journal's events; whether it changed anything
   */
  private static boolean whileLocked(RunFolder run, Predicate<List<Event>> repair) {
    try (FileLock held = run.exists() ? run.lock(Duration.ofSeconds(5)).orElse(null) : null) {
      List<Event> events = held == null ? List.of() : run.journal().read();
      return held != null && held.holds() && repair.test(events);
    }
  }

  /**
   * Opens a finished run again if a job of a submission that was given up has appeared. The next
   * {@code reconcile} waits for that job and counts its cost.
   */
  private boolean adoptLateJob(RunFolder run, RunState state, TaskEvidence evidence) {
    boolean found = false;
    for (Submission submission : state.submissions()) {
      Instant now = Instant.ofEpochMilli(System.currentTimeMillis());
      Optional<Event> event = RunPass.findLateJob(run, state, submission, evidence, now);
      if (event.isPresent()) {
        workspace.markOpen(run.id());
        run.journal().append(event.get());
        found = true;
      }
    }
    return found;
  }

  /** The credited states come from the kept cost file, because they were settled with it. */
  private Set<JobState> settledCredit(RunFolder run) {
    return readCostFile(run).map(CostFile::credited).orElseGet(() -> RunPass.credited(policy));
  }

  /** Returns whether accounting has fewer attempts than the kept cost file. */
  private static boolean hasForgotten(RunFolder run, RunState state, RunOutcome outcome) {
    int now = outcome.attempts().size();
    return readCostFile(run)
        .filter(kept -> now < kept.attemptCount() - Audit.tooEarly(kept, state, outcome))
        .isPresent();
  }

  /** Returns the cost file; empty if it is missing or broken. */
  private static Optional<CostFile> readCostFile(RunFolder run) {
    if (!Files.isRegularFile(run.cost())) {
      return Optional.empty();
    }
    try {
      CostFile cost = CostFile.read(run);
      cost.credited();
      cost.attemptCount();
      return Optional.of(cost);
    } catch (IllegalArgumentException broken) {
      return Optional.empty();
    }
  }

  /** Returns the manifest; empty if it is missing or broken. */
  private static Optional<ManifestFile> manifest(RunFolder run) {
    if (!Files.isRegularFile(run.manifest())) {
      return Optional.empty();
    }
    try {
      return Optional.of(ManifestFile.read(run));
    } catch (IllegalArgumentException broken) {
      return Optional.empty();
    }
  }
}
