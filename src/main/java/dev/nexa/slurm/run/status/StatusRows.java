package dev.nexa.slurm.run.status;

import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.RunCost;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.LostFolder;
import dev.nexa.slurm.run.lookup.RunsByScheduler;
import dev.nexa.slurm.run.reconcile.CostRecord;
import dev.nexa.slurm.run.reconcile.QueueSnapshot;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.RunRecords;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.results.TaskResults;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Makes the rows of {@code status}. Writes nothing and submits nothing. */
public final class StatusRows {
  private final Context context;
  private final Map<String, Supplier<QueueSnapshot>> asked = new HashMap<>();

  private final Known known;

  public StatusRows(Context context) {
    this(
        context,
        new Known(new HashMap<>(), new Unchanged<>(), new Unchanged<>(), new Unchanged<>()));
  }

  private StatusRows(Context context, Known known) {
    this.context = context;
    this.known = known;
  }

  /**
   * The facts that are known from before.
   *
   * @param accountingKept whether each scheduler's cluster keeps accounting, as far as it was asked
   */
  private record Known(
      Map<String, Boolean> accountingKept,
      Unchanged<List<Event>> journals,
      Unchanged<RunFacts> facts,
      Unchanged<Optional<ProvenFiles.Changed>> changes) {}

  /**
   * Returns rows that ask each scheduler for its queue again, but not again whether its cluster
   * keeps accounting. Files that have not changed since are not read again.
   */
  public StatusRows again() {
    return new StatusRows(context, known);
  }

  /**
   * Begins to ask a scheduler, while the caller and {@link #rows} read files. For a caller who
   * knows that unfinished runs are on this scheduler.
   *
   * @param scheduler {@code slurm} or {@code local}
   */
  public StatusRows asking(String scheduler) {
    asked.computeIfAbsent(
        scheduler,
        name ->
            QueueSnapshot.inBackground(
                context.scheduler(name), Optional.ofNullable(known.accountingKept().get(name))));
    return this;
  }

  /**
   * Returns a row for each run, in the given order.
   *
   * @param problems receives a line for each run that cannot be read; such a run has no row
   */
  public List<RunRow> rows(List<RunId> ids, List<String> problems) {
    Workspace workspace = context.workspace();
    Map<RunId, RunRow> rows = new HashMap<>();
    List<RunId> own =
        new ArrayList<>(workspace.isShared() ? withoutOthers(ids, rows, problems) : ids);
    for (RunId id : ids) {
      if (LostFolder.is(workspace.run(id)) && own.remove(id)) {
        problems.add(LostFolder.sentence(workspace.run(id)));
      }
    }
    RunsByScheduler runs =
        RunsByScheduler.grouped(
            workspace,
            own,
            run ->
                known
                    .journals()
                    .of(run.id(), List.of(run.journal().file()), () -> run.journal().read()));
    problems.addAll(runs.problems().values());
    for (Map.Entry<String, Map<RunId, RunState>> group : runs.groups().entrySet()) {
      Scheduler scheduler = context.scheduler(group.getKey());
      if (hasJobs(group.getValue().values())) {
        asking(group.getKey());
      }
      Map<RunId, RunFacts> facts = facts(group.getValue().keySet(), problems);
      QueueSnapshot queue = asked.getOrDefault(group.getKey(), QueueSnapshot::notAsked).get();
      if (queue.wasAsked()) {
        known.accountingKept().put(group.getKey(), queue.accountingKept());
      }
      TaskEvidence evidence = evidence(scheduler, queue, group.getValue(), facts);
      for (Map.Entry<RunId, RunState> run : group.getValue().entrySet()) {
        RunId id = run.getKey();
        RunFacts ofRun = facts.get(id);
        try {
          if (ofRun != null) {
            rows.put(id, row(workspace.run(id), ofRun, run.getValue(), evidence, problems));
          }
        } catch (RuntimeException broken) {
          problems.add(id + ": " + broken.getMessage());
        }
      }
    }
    return ids.stream().flatMap(id -> Stream.ofNullable(rows.get(id))).toList();
  }

  private static boolean hasJobs(Collection<RunState> runs) {
    return runs.stream().anyMatch(run -> !run.submissions().isEmpty());
  }

  /** Adds the rows of other users' runs, and returns the runs of this user. */
  private List<RunId> withoutOthers(
      List<RunId> ids, Map<RunId, RunRow> rows, List<String> problems) {
    List<RunId> own = new ArrayList<>();
    for (RunId id : ids) {
      RunFolder run = context.workspace().run(id);
      if (!run.isOfAnotherUser()) {
        own.add(id);
      } else if (Files.exists(run.manifest())) {
        try {
          rows.put(id, RunRow.of(run.owner(), ManifestFile.read(run)));
        } catch (RuntimeException broken) {
          problems.add(id + ": " + broken.getMessage());
        }
      }
    }
    return own;
  }

  /** Reads the facts of each run that has a plan and an estimate. */
  private Map<RunId, RunFacts> facts(Set<RunId> ids, List<String> problems) {
    Map<RunId, RunFacts> facts = new HashMap<>();
    for (RunId id : ids) {
      RunFolder run = context.workspace().run(id);
      if (Files.exists(run.plan()) && Files.exists(run.estimate())) {
        try {
          List<Path> files = List.of(run.plan(), run.estimate());
          facts.put(id, known.facts().of(id, files, () -> RunFacts.shown(run)));
        } catch (RuntimeException broken) {
          problems.add(id + ": " + broken.getMessage());
        }
      }
    }
    return facts;
  }

  /**
   * Asks accounting only about the runs that the queue does not show completely, because sacct
   * takes longer than everything else here.
   */
  private static TaskEvidence evidence(
      Scheduler scheduler,
      QueueSnapshot queue,
      Map<RunId, RunState> runs,
      Map<RunId, RunFacts> facts) {
    List<RunState> left = new ArrayList<>();
    for (Map.Entry<RunId, RunState> run : runs.entrySet()) {
      RunFacts known = facts.get(run.getKey());
      // A task that Slurm requeued is in the queue, but its earlier attempts are not.
      if (known == null || known.work().requeues() > 0 || !queue.showsAll(run.getValue())) {
        left.add(run.getValue());
      }
    }
    return TaskEvidence.gather(scheduler, queue, left);
  }

  private RunRow row(
      RunFolder run, RunFacts facts, RunState state, TaskEvidence evidence, List<String> problems) {
    Optional<ProvenFiles.Changed> changed =
        known
            .changes()
            .of(
                run.id(),
                List.of(run.journal().file(), run.plan(), run.estimate()),
                () -> ProvenFiles.of(run).settlementChange());
    changed.ifPresent(
        file -> problems.add(run.id() + ": what is shown of it may be wrong: " + file.sentence()));
    RunOutcome outcome = evidence.outcome(run, facts, state, problems);
    TaskResults results = charged(run, facts, state, outcome, problems);
    RunCost cost = CostRecord.cost(facts, state, outcome, results);
    Optional<String> user =
        context.workspace().isShared() ? Optional.of(run.owner()) : Optional.empty();
    RunRow row =
        RunRow.of(
            user,
            facts,
            state,
            outcome,
            cost.total(),
            cost.lacks(),
            evidence.queue(state),
            Instant.now());
    // squeue lists ended jobs too, for some minutes.
    boolean active = evidence.queue(state).stream().anyMatch(QueueEntry::active);
    if (evidence.isInDoubt(state)) {
      return row.noted(evidence.disagreements(state, List.of()).get(0));
    }
    Optional<Integer> packed = facts.work().packed();
    return packed.isPresent() && row.tasks().pending() < row.tasks().all() && row.note().isEmpty()
        ? row.noted(
            TaskResults.read(run, state, false, problems).packed(packed).orElseThrow().sentence())
        : row.leaving(!active && hasBegun(run, state));
  }

  /**
   * Reads only what the cost depends on: of running tasks API tokens, of an ended run also egress
   * and energy, which needs all samples.
   */
  private static TaskResults charged(
      RunFolder run, RunFacts facts, RunState state, RunOutcome outcome, List<String> problems) {
    Set<PricedUnit> priced = facts.rates().units().keySet();
    if (outcome.ended() && priced.contains(PricedUnit.ENERGY)) {
      return RunRecords.results(run, facts, state, outcome, problems);
    }
    boolean sent = outcome.ended() && priced.contains(PricedUnit.EGRESS);
    boolean needed = sent || facts.estimate().apiTokens().isPresent();
    return needed ? TaskResults.read(run, state, false, problems) : TaskResults.NONE;
  }

  /** Returns whether a task of the run has claimed its number, which it does before it works. */
  private static boolean hasBegun(RunFolder run, RunState state) {
    return state.submissions().stream().anyMatch(sent -> !run.claims(sent.key()).isEmpty());
  }
}
