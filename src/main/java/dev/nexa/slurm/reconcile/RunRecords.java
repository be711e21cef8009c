package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.Ledger;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.submit.CrashPoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes a run's manifest and cost file, and closes the run once they are final. A file whose
 * content would be the same is left alone: two passes leave the same bytes. The caller holds the
 * run's lock.
 */
public final class RunRecords {
  private final Workspace workspace;
  private final Consumer<CrashPoint> passing;

  public RunRecords(Workspace workspace, Consumer<CrashPoint> passing) {
    this.workspace = workspace;
    this.passing = passing;
  }

  /**
   * Writes what is known; true if any file changed.
   *
   * @param problems told of metrics files that can't be read
   */
  public boolean write(
      RunFolder run, RunFacts facts, RunState journal, RunOutcome outcome, List<String> problems) {
    Results results = Results.read(run, journal, problems);
    JsonObject cost = CostRecord.of(facts, journal, outcome);
    boolean changed = replace(run.cost(), cost);
    if (outcome.ended()) {
      passing.accept(CrashPoint.FINAL_COST_WRITTEN);
    }
    JsonObject manifest = Manifest.of(facts, journal, outcome, results);
    if (!facts.points().isEmpty()) {
      manifest.with("points", SweepPoints.of(facts.points(), outcome.tasks(), results.byTask()));
    }
    changed |= replace(run.manifest(), manifest);
    passing.accept(
        outcome.ended() ? CrashPoint.FINAL_MANIFEST_WRITTEN : CrashPoint.MANIFEST_WRITTEN);
    if (outcome.ended()) {
      finish(
          run,
          journal,
          LedgerLine.of(run, facts, outcome, manifest, cost),
          Manifest.ended(outcome).or(journal::created).orElse(Instant.EPOCH));
    }
    return changed;
  }

  /**
   * A run whose submitter died before it was even planned: nothing was submitted, and it says so.
   */
  public void abandon(RunFolder run, RunState journal) {
    JsonObject manifest =
        new JsonObject()
            .with("run_id", run.id().value())
            .with("stage", run.id().value().substring(0, run.id().value().indexOf('_')))
            .with("status", "failed")
            .with("model", null)
            .with("dataset", null)
            .with("checkpoint", null)
            .with("logs", run.logs().toString())
            .with("eval_report", null)
            .with("hardware", null)
            .with("cost_usd", null)
            .with("tags", List.of())
            .with("wandb_run_id", null)
            .with("schema_version", 1)
            .with("state", "not_submitted");
    replace(run.manifest(), manifest);
    finish(
        run,
        journal,
        new JsonObject().with("run_id", run.id().value()).with("status", "failed"),
        Instant.EPOCH);
  }

  private void finish(RunFolder run, RunState journal, JsonObject line, Instant ended) {
    if (!ended.equals(Instant.EPOCH)) {
      new Ledger(workspace).add(run.id(), ended, line);
      passing.accept(CrashPoint.LEDGER_WRITTEN);
    }
    if (!journal.finished()) {
      run.journal()
          .append(
              Event.now(Event.Type.FINISHED, new JsonObject().with("status", line.text("status"))));
    }
    passing.accept(CrashPoint.FINISHED_WRITTEN);
    close(run);
  }

  /** Takes a run whose files are final off the list. */
  public void close(RunFolder run) {
    workspace.markClosed(run.id());
  }

  private boolean replace(Path file, JsonObject document) {
    String text = Json.pretty(document);
    if (Files.exists(file) && DurableFiles.read(file).equals(text)) {
      return false;
    }
    workspace.files().replace(file, text);
    return true;
  }
}
