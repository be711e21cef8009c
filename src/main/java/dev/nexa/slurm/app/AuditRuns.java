package dev.nexa.slurm.app;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.costs.FinishedRuns;
import dev.nexa.slurm.costs.RunLine;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.Audit;
import dev.nexa.slurm.reconcile.Audit.Finding;
import dev.nexa.slurm.reconcile.Audit.Settled;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.Inquiry;
import dev.nexa.slurm.reconcile.RunPass;
import dev.nexa.slurm.scheduler.BillingWeights;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.slurm.SlurmScheduler;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
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
   * @param corrected runs of which a new version was written
   */
  public record Report(
      int runs, int rows, List<String> differences, List<String> notes, List<RunId> corrected) {
    public JsonObject toJson() {
      return new JsonObject()
          .with("schema_version", 1)
          .with("runs_read", runs)
          .with("rows_read", rows)
          .with("differences", differences)
          .with("notes", notes)
          .with("corrected", corrected.stream().map(RunId::value).toList());
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
    Map<RunId, Settled> settled = new HashMap<>();
    int[] rows = {0};
    for (Map.Entry<String, Map<RunId, RunState>> group : runs.groups().entrySet()) {
      Scheduler scheduler = nexa.scheduler(group.getKey());
      Map<String, BillingWeights> weights = weights(scheduler);
      Inquiry.forEachPart(
          scheduler,
          group.getValue(),
          (evidence, part) -> {
            rows[0] += evidence.rowsRead();
            for (Map.Entry<RunId, RunState> run : part.entrySet()) {
              RunId id = run.getKey();
              Finding finding = finding(workspace, run, evidence, weights);
              differences.addAll(finding.differences());
              notes.addAll(finding.notes());
              finding.settled().ifPresent(told -> settled.put(id, told));
              if (repair && finding.correctable() && correct(scheduler, id, evidence)) {
                corrected.add(id);
              }
            }
          });
    }
    // A run that was corrected has got its new line.
    settled.keySet().removeAll(corrected);
    ledger(settled, differences);
    return new Report(ids.size(), rows[0], differences, notes, corrected);
  }

  /** The ledger's newest line of each finished run against its cost file. */
  private void ledger(Map<RunId, Settled> settled, List<String> differences) {
    Map<String, RunLine> lines = new HashMap<>();
    FinishedRuns finished = new FinishedRuns(nexa.workspace());
    finished.forEach(line -> lines.put(line.runId(), line));
    differences.addAll(finished.problems());
    for (Map.Entry<RunId, Settled> run : settled.entrySet()) {
      RunLine line = lines.get(run.getKey().value());
      if (line == null) {
        differences.add("ledger: no line of " + run.getKey());
        continue;
      }
      BigDecimal cost = line.cost();
      boolean same =
          cost != null
              && cost.compareTo(run.getValue().total()) == 0
              && run.getValue().status().equals(line.status());
      if (!same) {
        differences.add(
            "ledger: "
                + run.getKey()
                + " is "
                + line.status()
                + " and cost "
                + (cost == null ? "nothing" : cost.toPlainString())
                + ", its cost file says "
                + run.getValue().status()
                + " and "
                + run.getValue().total().toPlainString());
      }
    }
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

  private boolean correct(Scheduler scheduler, RunId id, Evidence evidence) {
    Policy policy = nexa.configs().policy();
    RunPass pass = new RunPass(nexa.workspace(), scheduler, policy, nexa.passing());
    return pass.correct(nexa.workspace().run(id), evidence);
  }
}
