package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.Ledger;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.submit.CrashPoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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
   * @param credited the states whose attempts the cluster pays for
   * @param problems told of metrics files that can't be read
   */
  public boolean write(
      RunFolder run,
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      Set<JobState> credited,
      List<String> problems) {
    Results results = Results.read(run, journal, !facts.points().isEmpty(), problems);
    String cost = Json.pretty(CostRecord.of(facts, journal, outcome, results, credited));
    keepFinal(run, journal);
    boolean changed = replace(run.cost(), cost);
    if (outcome.ended()) {
      passing.accept(CrashPoint.FINAL_COST_WRITTEN);
    }
    JsonObject manifest = Manifest.of(facts, journal, outcome, results);
    if (!facts.points().isEmpty()) {
      manifest.with("points", SweepPoints.of(facts.points(), outcome.tasks(), results.byTask()));
    }
    changed |= replace(run.manifest(), Json.pretty(manifest));
    passing.accept(
        outcome.ended() ? CrashPoint.FINAL_MANIFEST_WRITTEN : CrashPoint.MANIFEST_WRITTEN);
    if (outcome.ended()) {
      finish(
          run,
          journal,
          cost,
          ledgerLine(facts, outcome),
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
    replace(run.manifest(), Json.pretty(manifest));
    finish(
        run,
        journal,
        "",
        new JsonObject().with("run_id", run.id().value()).with("status", "failed"),
        Instant.EPOCH);
  }

  /** What was final once stays, beside the version that takes its place: an auditor sees both. */
  private void keepFinal(RunFolder run, RunState journal) {
    Path kept = run.cost(journal.timesFinished());
    if (journal.timesFinished() > 0 && Files.exists(run.cost()) && Files.notExists(kept)) {
      workspace.files().create(kept, DurableFiles.readBytes(run.cost()), "r--r--r--");
      workspace.files().force(workspace.manifests());
    }
  }

  private void finish(
      RunFolder run, RunState journal, String cost, JsonObject line, Instant ended) {
    if (!ended.equals(Instant.EPOCH)) {
      new Ledger(workspace).add(run.id(), ended, line);
      passing.accept(CrashPoint.LEDGER_WRITTEN);
    }
    if (!journal.finished()) {
      JsonObject data = new JsonObject().with("status", line.text("status"));
      if (!cost.isEmpty()) {
        data.with("cost_version", journal.timesFinished() + 1).with("cost_sha256", Sha256.of(cost));
      }
      run.journal().append(Event.now(Event.Type.FINISHED, data));
    }
    passing.accept(CrashPoint.FINISHED_WRITTEN);
    close(run);
  }

  /** Takes a run whose files are final off the list. */
  public void close(RunFolder run) {
    workspace.markClosed(run.id());
  }

  private static JsonObject ledgerLine(RunFacts facts, RunOutcome outcome) {
    return new JsonObject()
        .with("run_id", facts.id().value())
        .with("stage", facts.stage())
        .with("status", outcome.status())
        .with("state", outcome.state())
        .with("model", facts.model().orElse(null))
        .with("tags", new ArrayList<>(facts.tags()))
        .with("currency", facts.rates().currency())
        .with("cost", CostRecord.total(facts, outcome).amount().toPlainString())
        .with(
            "gpu_seconds",
            outcome.used().gpuSeconds().values().stream().mapToLong(Long::longValue).sum())
        .with("cpu_seconds", outcome.used().cpuSeconds());
  }

  private boolean replace(Path file, String text) {
    if (Files.exists(file) && DurableFiles.read(file).equals(text)) {
      return false;
    }
    workspace.files().replace(file, text);
    return true;
  }
}
