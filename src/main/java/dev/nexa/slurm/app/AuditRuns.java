package dev.nexa.slurm.app;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.costs.LedgerCheck;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.Audit;
import dev.nexa.slurm.reconcile.Audit.Finding;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.Inquiry;
import dev.nexa.slurm.reconcile.Repair;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.units.BillingWeights;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * {@code audit}: derives every manifest and cost file anew, from journals and accounting, and lists
 * what differs.
 */
public final class AuditRuns {
  private final Nexa nexa;

  public AuditRuns(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * What was found.
   *
   * @param corrected runs of which a new version, or a new line in the ledger, was written
   * @param remaining how many of the differences are still there
   */
  public record Report(
      int runs,
      int rows,
      List<String> differences,
      List<String> notes,
      List<RunId> corrected,
      int remaining) {
    public JsonObject toJson() {
      return new JsonObject()
          .with("schema_version", 1)
          .with("runs_read", runs)
          .with("rows_read", rows)
          .with("differences", differences)
          .with("notes", notes)
          .with("corrected", corrected.stream().map(RunId::value).toList())
          .with("remaining", remaining);
    }
  }

  /**
   * Audits these runs, or all.
   *
   * @param repair whether to write a new version of the records that accounting now makes
   *     differently; the old ones are kept
   */
  public Report audit(List<RunId> ids, boolean repair) {
    Workspace workspace = nexa.workspace();
    RunsByScheduler runs = RunsByScheduler.of(workspace, ids);
    List<String> differences = new ArrayList<>(runs.problems().values());
    List<String> notes = new ArrayList<>();
    List<RunId> corrected = new ArrayList<>();
    LedgerCheck ledger = new LedgerCheck(workspace);
    differences.addAll(ledger.problems());
    int[] counts = {0, differences.size()};
    for (Map.Entry<String, Map<RunId, RunState>> group : runs.groups().entrySet()) {
      Scheduler scheduler = nexa.scheduler(group.getKey());
      Map<String, BillingWeights> weights = weights(scheduler);
      SacctFields.askFor(nexa, scheduler, group.getValue().keySet());
      Inquiry.forEachPart(
          scheduler,
          group.getValue(),
          (evidence, part) -> {
            counts[0] += evidence.rowsRead();
            for (Map.Entry<RunId, RunState> run : part.entrySet()) {
              RunId id = run.getKey();
              Finding finding = finding(workspace, run, evidence, weights);
              List<String> own = new ArrayList<>(finding.differences());
              finding
                  .settled()
                  .flatMap(told -> ledger.difference(id, told.status(), told.total()))
                  .ifPresent(own::add);
              differences.addAll(own);
              notes.addAll(finding.notes());
              if (repair && !own.isEmpty() && repaired(id, finding, evidence)) {
                corrected.add(id);
              } else {
                counts[1] += own.size();
              }
            }
          });
      SacctFields.tellRefusal(scheduler, notes);
    }
    return new Report(ids.size(), counts[0], differences, notes, corrected, counts[1]);
  }

  private static Finding finding(
      Workspace workspace,
      Map.Entry<RunId, RunState> known,
      Evidence evidence,
      Map<String, BillingWeights> weights) {
    RunFolder run = workspace.run(known.getKey());
    try {
      boolean open = workspace.isOpen(run.id());
      List<Event> events = run.journal().read();
      // Who works on it meanwhile leaves what the evidence was not gathered for.
      return RunState.of(events).equals(known.getValue())
          ? Audit.of(workspace, run, events, evidence, weights, open)
          : Audit.changing(run);
    } catch (NexaException broken) {
      return Audit.broken(broken);
    }
  }

  /** The local scheduler bills CPUs, and nobody changes that. */
  private static Map<String, BillingWeights> weights(Scheduler scheduler) {
    return scheduler instanceof SlurmScheduler slurm ? slurm.billingWeights() : Map.of();
  }

  /** A record that accounting makes differently gets a version, one that it makes so its line. */
  private boolean repaired(RunId id, Finding finding, Evidence evidence) {
    Policy policy = nexa.configs().policy();
    Repair repair = new Repair(nexa.workspace(), policy, nexa.passing());
    RunFolder run = nexa.workspace().run(id);
    return finding.correctable() ? repair.correct(run, evidence) : repair.relist(run, evidence);
  }
}
