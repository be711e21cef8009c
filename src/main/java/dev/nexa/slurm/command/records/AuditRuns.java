package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.money.ledger.LedgerCheck;
import dev.nexa.slurm.money.ledger.LedgerRepair;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.audit.Audit;
import dev.nexa.slurm.run.audit.Audit.Finding;
import dev.nexa.slurm.run.audit.Audit.Settled;
import dev.nexa.slurm.run.audit.RecordRepair;
import dev.nexa.slurm.run.lookup.RunsByScheduler;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.reconcile.SchedulerPoll;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.storage.cleanup.PastRetention;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Implements {@code audit}: derives every manifest and cost file again, from journals and
 * accounting, and lists the differences to the files.
 */
public record AuditRuns(Context context, Progress progress) {
  /** A repair can reveal the next one: first the journal, then the records. */
  private static final int MOST_REPAIRS = 3;

  /**
   * The result of an audit.
   *
   * @param corrected the runs that got a new record, journal line or ledger line
   * @param repaired a sentence for each other repair
   * @param remaining how many differences remain
   * @param pastRetention the runs whose durable files are past their retention
   */
  public record Report(
      int runs,
      int rows,
      List<String> differences,
      List<String> notes,
      List<RunId> corrected,
      List<String> repaired,
      int remaining,
      List<PastRetention> pastRetention) {
    /** Returns the document that {@code --json} prints. */
    public JsonObject toJson() {
      return JsonObject.ofVersion(1)
          .with("runs_read", runs)
          .with("rows_read", rows)
          .with("differences", differences)
          .with("notes", notes)
          .with("corrected", corrected.stream().map(RunId::value).toList())
          .with("repaired", repaired)
          .with("remaining", remaining)
          .with("past_retention", pastRetention.stream().map(PastRetention::toJson).toList());
    }
  }

  /**
   * Audits all runs, and the ledger lines of runs that do not exist.
   *
   * @param repair whether to repair what can be proven
   */
  public Report audit(boolean repair) {
    List<RunId> ids = context.workspace().everyRun();
    LedgerCheck ledger = new LedgerCheck(context.workspace());
    Set<String> known = ids.stream().map(RunId::value).collect(Collectors.toSet());
    List<String> orphans =
        ledger.runs().stream().filter(run -> !known.contains(run)).map(ledger::orphan).toList();
    return audit(ids, ledger, orphans, repair);
  }

  /**
   * Audits these runs.
   *
   * @param repair whether to repair what can be proven: write a new version of a record that
   *     accounting now yields differently, and restore lost lines of journals and of the ledger;
   *     earlier versions stay
   */
  public Report audit(List<RunId> ids, boolean repair) {
    return audit(ids, new LedgerCheck(context.workspace()), List.of(), repair);
  }

  private Report audit(List<RunId> ids, LedgerCheck ledger, List<String> orphans, boolean repair) {
    Workspace workspace = context.workspace();
    List<String> members = workspace.unsharedMembers();
    if (repair && !members.isEmpty()) {
      throw ErrorCode.RECORD_DAMAGED.error(
          "%s was shared, and its modes are lost: a repair would write the lines of %s into your ledger"
              .formatted(workspace.root(), String.join(", ", members)),
          Advice.command("says how to share it again", "nexa-slurm", "doctor", "team"));
    }
    RunsByScheduler runs = RunsByScheduler.of(workspace, ids, progress);
    Pass pass = new Pass(ledger, repair);
    pass.differences.addAll(chargedTwice(runs));
    leaveOthers(runs.groups().getOrDefault("local", Map.of()), pass.notes);
    pass.differences.addAll(runs.problems().values());
    pass.differences.addAll(orphans);
    pass.remaining = pass.differences.size();
    pass.differences.addAll(ledger.problems());
    for (Map.Entry<String, Map<RunId, RunState>> group : runs.groups().entrySet()) {
      Scheduler scheduler =
          context.scheduler(
              group.getKey(),
              "the audit compares the records with Slurm's accounting, so it needs Slurm");
      Map<String, BillingWeights> weights = scheduler.billingWeights();
      ReconcileRuns.askFor(context, scheduler, group.getValue().keySet());
      Phase phase = Phase.of("auditing", "runs", group.getValue().size());
      try (Running auditing = progress.begin(phase)) {
        SchedulerPoll.forEachPart(
            scheduler,
            group.getValue(),
            (evidence, part) -> {
              pass.rows += evidence.rowsRead();
              for (Map.Entry<RunId, RunState> run : part.entrySet()) {
                pass.audit(run.getKey(), run.getValue(), evidence, weights);
                pass.retain(run.getKey(), run.getValue());
                auditing.done(1, 0);
              }
            });
      }
      ReconcileRuns.tellRefusal(scheduler, pass.notes);
    }
    pass.finish();
    return new Report(
        ids.size(),
        pass.rows,
        pass.differences,
        pass.notes,
        List.copyOf(pass.corrected),
        pass.repaired,
        pass.remaining,
        pass.pastRetention);
  }

  /**
   * Names each job that is charged in two runs. Accounting's rows are found by the submission's
   * key, so this is a job whose key is in two journals: somebody has copied a run's folder.
   */
  private static List<String> chargedTwice(RunsByScheduler runs) {
    List<String> twice = new ArrayList<>();
    Map<String, RunId> first = new HashMap<>();
    for (Map<RunId, RunState> group : runs.groups().values()) {
      group.forEach(
          (id, state) -> {
            for (Submission one : state.submissions()) {
              RunId other = first.putIfAbsent(one.key(), id);
              if (other != null) {
                String job = one.jobId().map(number -> "job " + number).orElse(one.key());
                twice.add(id + ": " + job + " is charged in two runs: " + other + " has it, too");
              }
            }
          });
    }
    return twice;
  }

  /** Removes other users' runs, because only the user of a local job can read its rows. */
  private void leaveOthers(Map<RunId, RunState> local, List<String> notes) {
    for (RunId id : List.copyOf(local.keySet())) {
      RunFolder run = context.workspace().run(id);
      if (run.isOfAnotherUser()) {
        local.remove(id);
        notes.add(
            "%s: not audited: only its owner, %s, can read the rows of its local jobs"
                .formatted(id, run.owner()));
      }
    }
  }

  /** The sums of one audit. */
  private final class Pass {
    private final LedgerCheck ledger;
    private final boolean repair;
    private final List<String> differences = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final Set<RunId> corrected = new LinkedHashSet<>();
    private final List<String> repaired = new ArrayList<>();
    private final Map<RunId, Settled> settled = new LinkedHashMap<>();
    private final List<PastRetention> pastRetention = new ArrayList<>();
    private final Instant now = Instant.now();
    private int rows;
    private int remaining;
    private int withoutCopies;

    Pass(LedgerCheck ledger, boolean repair) {
      this.ledger = ledger;
      this.repair = repair;
    }

    /** Looks whether the run's durable files should be gone. A broken record is reported above. */
    void retain(RunId id, RunState state) {
      try {
        PastRetention.of(context.workspace().run(id), state, now).ifPresent(pastRetention::add);
      } catch (RuntimeException broken) {
        // The audit of the run has a difference for it.
      }
    }

    /** Audits one run. A failure is a difference of this run only. */
    void audit(
        RunId id, RunState known, TaskEvidence evidence, Map<String, BillingWeights> weights) {
      Finding before = withCopies(id, finding(id, known, evidence, weights));
      List<String> own = new ArrayList<>(before.differences());
      before.settled().flatMap(told -> difference(ledger, id, told)).ifPresent(own::add);
      differences.addAll(own);
      notes.addAll(before.notes());
      if (!repair || own.isEmpty()) {
        before.settled().ifPresent(told -> settled.put(id, told));
        remaining += own.size();
        return;
      }
      Finding after = before;
      for (int i = 0; i < MOST_REPAIRS && repair(id, after, evidence); i++) {
        RunState now = RunState.of(context.workspace().run(id).journal().read());
        after = finding(id, now, evidence, weights);
        corrected.add(id);
        if (after.differences().isEmpty()) {
          break;
        }
      }
      after.settled().ifPresent(told -> settled.put(id, told));
      remaining += after.differences().size();
    }

    /** Repairs the copies on the durable tier, and returns what is left of the finding. */
    private Finding withCopies(RunId id, Finding found) {
      if (repair && (found.lacksCopies() || found.hasChangedCopies()) && copied(id)) {
        differences.addAll(found.copyDifferences());
        if (found.hasChangedCopies()) {
          repaired.add(id + ": its records were copied to the durable tier again");
        }
        return found.withoutCopies();
      }
      if (found.lacksCopies()) {
        withoutCopies++;
      }
      return found;
    }

    private boolean copied(RunId id) {
      RunFolder run = context.workspace().run(id);
      try {
        return !run.isOfAnotherUser() && repairer().copyAgain(run);
      } catch (RuntimeException failed) {
        notes.add(failed.getMessage());
        return false;
      }
    }

    private RecordRepair repairer() {
      return new RecordRepair(context.workspace(), context.configs().policy(), context.passing());
    }

    /**
     * Makes one repair.
     *
     * @return false if there is none to make, or if it failed
     */
    private boolean repair(RunId id, Finding finding, TaskEvidence evidence) {
      try {
        RunFolder run = context.workspace().run(id);
        if (run.isOfAnotherUser()) {
          notes.add(id + ": only its owner, " + run.owner() + ", can repair it");
          return false;
        }
        RecordRepair records = repairer();
        boolean cut = finding.settled().isPresent() && isCut(id, finding.settled().get());
        boolean done =
            finding.unfinished()
                ? records.finishAgain(run, evidence, listed(id))
                : finding.correctable() && !cut && records.correct(run, evidence);
        if (done && context.workspace().isOpen(id)) {
          repaired.add(id + ": opened again, so that reconcile looks at it");
        } else if (done && finding.unfinished()) {
          repaired.add(id + ": the last line of its journal was missing, and was written again");
        }
        return done;
      } catch (SchedulerUnavailable outage) {
        throw outage;
      } catch (RuntimeException failed) {
        notes.add(id + ": it could not be repaired: " + failed.getMessage());
        return false;
      }
    }

    private Optional<Predicate<CostFile>> listed(RunId id) {
      long version = ledger.version(id);
      return version == 0
          ? Optional.empty()
          : Optional.of(
              cost ->
                  cost.version() == version
                      && ledger
                          .difference(id, cost.status().text(), cost.total().amount())
                          .isEmpty());
    }

    /** Repairs the ledger lines of corrected runs, then broken ledger lines. */
    void finish() {
      if (withoutCopies > 0) {
        notes.add(
            ("the records of %s have no copies on the durable tier; `nexa-slurm audit --repair`"
                    + " writes them")
                .formatted(Plural.of(withoutCopies, "run")));
      }
      if (!repair) {
        remaining += ledger.problems().size();
        return;
      }
      LedgerCheck now = corrected.isEmpty() ? ledger : new LedgerCheck(context.workspace());
      Set<String> whole = new HashSet<>();
      for (Map.Entry<RunId, Settled> run : settled.entrySet()) {
        RunId id = run.getKey();
        Optional<String> wrong = difference(now, id, run.getValue());
        if (wrong.isEmpty() || relisted(id, run.getValue())) {
          whole.add(id.value());
        } else {
          remaining++;
        }
        if (wrong.isPresent() && whole.contains(id.value())) {
          repaired.add(id + ": its line in the ledger was written again");
          corrected.add(id);
        }
      }
      if (!now.problems().isEmpty()) {
        repaired.addAll(new LedgerRepair(context.workspace(), whole).repair());
        remaining += new LedgerCheck(context.workspace()).problems().size();
      }
    }

    private boolean relisted(RunId id, Settled told) {
      try {
        RunFolder run = context.workspace().run(id);
        if (run.isOfAnotherUser()) {
          notes.add(id + ": only its owner, " + run.owner() + ", can write its line in the ledger");
          return false;
        }
        return !isCut(id, told) && repairer().relist(run);
      } catch (RuntimeException failed) {
        notes.add(id + ": its line in the ledger could not be written: " + failed.getMessage());
        return false;
      }
    }

    /** Returns whether the ledger has a later version of the run than its journal. */
    private boolean isCut(RunId id, Settled told) {
      return ledger.version(id) > told.timesFinished();
    }
  }

  private static Optional<String> difference(LedgerCheck ledger, RunId id, Settled told) {
    long version = ledger.version(id);
    return version > told.timesFinished()
        ? Optional.of(
            ("ledger: %s has version %s, and its journal tells of %s: lines of the "
                    + "journal are missing; restore it from a backup")
                .formatted(id, version, told.timesFinished()))
        : ledger.difference(id, told.status().text(), told.total());
  }

  private Finding finding(
      RunId id, RunState known, TaskEvidence evidence, Map<String, BillingWeights> weights) {
    Workspace workspace = context.workspace();
    RunFolder run = workspace.run(id);
    try {
      boolean open = workspace.isOpen(id);
      List<Event> events = run.journal().read();
      // If another process changed the run meanwhile, the evidence does not apply to it.
      return RunState.of(events).equals(known)
          ? Audit.of(workspace, run, events, evidence, weights, open)
          : Audit.changing(run);
    } catch (SchedulerUnavailable outage) {
      throw outage;
    } catch (RuntimeException broken) {
      return Audit.broken(run, broken);
    }
  }
}
