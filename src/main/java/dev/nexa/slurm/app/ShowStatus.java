package dev.nexa.slurm.app;

import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.CostRecord;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.Results;
import dev.nexa.slurm.reconcile.RunFacts;
import dev.nexa.slurm.reconcile.RunOutcome;
import dev.nexa.slurm.report.RunRow;
import dev.nexa.slurm.units.Money;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * {@code status}: what the runs are doing now. Reads only: nothing is written, nothing submitted.
 */
public final class ShowStatus {
  private final Nexa nexa;

  public ShowStatus(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * A row for each run, in the order given.
   *
   * @param problems told of runs that can't be read
   */
  public List<RunRow> rows(List<RunId> ids, List<String> problems) {
    Workspace workspace = nexa.workspace();
    RunsByScheduler runs = RunsByScheduler.of(workspace, ids);
    problems.addAll(runs.problems().values());
    Map<RunId, RunRow> rows = new HashMap<>();
    runs.groups()
        .forEach(
            (name, group) -> {
              Evidence evidence = Evidence.gather(nexa.scheduler(name), group.values());
              group.forEach(
                  (id, state) -> {
                    RunFolder run = workspace.run(id);
                    if (Files.exists(run.plan()) && Files.exists(run.estimate())) {
                      try {
                        rows.put(id, row(run, state, evidence, problems));
                      } catch (NexaException
                          | UncheckedIOException
                          | IllegalArgumentException broken) {
                        problems.add(id + ": " + broken.getMessage());
                      }
                    }
                  });
            });
    return ids.stream().flatMap(id -> Stream.ofNullable(rows.get(id))).toList();
  }

  private static RunRow row(
      RunFolder run, RunState state, Evidence evidence, List<String> problems) {
    RunFacts facts = RunFacts.of(run);
    RunOutcome outcome = evidence.outcome(run, facts, state, problems);
    // Only what has ended is charged for what it sent out: of running tasks no file is read.
    boolean sent = outcome.ended() && facts.rates().egressGb().isPresent();
    Results results = sent ? Results.read(run, state, false, problems) : Results.NONE;
    Money cost = CostRecord.total(facts, state, outcome, results);
    return RunRow.of(facts, state, outcome, cost, evidence.queue(state), Instant.now());
  }
}
