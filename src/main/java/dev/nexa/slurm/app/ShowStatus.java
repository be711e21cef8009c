package dev.nexa.slurm.app;

import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.CostRecord;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.RunFacts;
import dev.nexa.slurm.reconcile.RunOutcome;
import dev.nexa.slurm.report.RunRow;
import dev.nexa.slurm.scheduler.QueueEntry;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * {@code status}: what the runs are doing now. Reads only: nothing is written, nothing submitted.
 */
public final class ShowStatus {
  private final Nexa nexa;

  public ShowStatus(Nexa nexa) {
    this.nexa = nexa;
  }

  /** A row for each run, in the order given. */
  public List<RunRow> rows(List<RunId> ids) {
    Workspace workspace = nexa.workspace();
    Map<String, Map<RunId, RunState>> byScheduler = new TreeMap<>();
    for (RunId id : ids) {
      RunFolder run = workspace.run(id);
      if (Files.exists(run.plan()) && Files.exists(run.estimate())) {
        byScheduler
            .computeIfAbsent(RunLookup.scheduler(run), name -> new LinkedHashMap<>())
            .put(id, RunState.of(run.journal().read()));
      }
    }
    Map<RunId, RunRow> rows = new LinkedHashMap<>();
    byScheduler.forEach(
        (name, runs) -> {
          Evidence evidence = Evidence.gather(nexa.scheduler(name), runs.values());
          runs.forEach((id, state) -> rows.put(id, row(workspace.run(id), state, evidence)));
        });
    List<RunRow> ordered = new ArrayList<>();
    ids.forEach(id -> Optional.ofNullable(rows.get(id)).ifPresent(ordered::add));
    return ordered;
  }

  private static RunRow row(RunFolder run, RunState state, Evidence evidence) {
    RunFacts facts = RunFacts.of(run);
    List<QueueEntry> queue = evidence.queue(run.id(), Optional.empty());
    RunOutcome outcome =
        RunOutcome.of(
            facts, state, evidence.rows(run.id(), Optional.empty()), queue, false, Instant.now());
    return RunRow.of(facts, state, outcome, CostRecord.total(facts, outcome), queue, Instant.now());
  }
}
