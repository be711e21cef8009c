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
import java.util.Optional;
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
   * A run's files, as its journal and its rows make them.
   *
   * @param ledgerLine empty while it is not over
   */
  public record Derived(String manifest, String cost, Optional<JsonObject> ledgerLine) {}

  /**
   * Derives them, and writes nothing.
   *
   * @param credited the states whose attempts the cluster pays for
   * @param problems told of metrics files that can't be read
   */
  public static Derived derive(
      RunFolder run,
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      Set<JobState> credited,
      List<String> problems) {
    Results results = Results.read(run, journal, !facts.points().isEmpty(), problems);
    JsonObject cost = CostRecord.of(facts, journal, outcome, results, credited);
    JsonObject manifest = Manifest.of(facts, journal, outcome, results);
    if (!facts.points().isEmpty()) {
      manifest.with("points", SweepPoints.of(facts.points(), outcome.tasks(), results.byTask()));
    }
    Optional<JsonObject> line =
        outcome.ended()
            ? Optional.of(LedgerLine.of(run, facts, outcome, manifest, cost))
            : Optional.empty();
    return new Derived(Json.pretty(manifest), Json.pretty(cost), line);
  }

  /** Writes what is known; true if any file changed. */
  public boolean write(
      RunFolder run,
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      Set<JobState> credited,
      List<String> problems) {
    Derived derived = derive(run, facts, journal, outcome, credited, problems);
    keepFinal(run, journal);
    boolean changed = replace(run.cost(), derived.cost());
    if (outcome.ended()) {
      passing.accept(CrashPoint.FINAL_COST_WRITTEN);
    }
    changed |= replace(run.manifest(), derived.manifest());
    passing.accept(
        outcome.ended() ? CrashPoint.FINAL_MANIFEST_WRITTEN : CrashPoint.MANIFEST_WRITTEN);
    if (derived.ledgerLine().isPresent()) {
      Instant ended = Manifest.ended(outcome).or(journal::created).orElse(Instant.EPOCH);
      JsonObject data =
          new JsonObject()
              .with("status", outcome.status())
              .with("cost_version", journal.timesFinished() + 1)
              .with("cost_sha256", Sha256.of(derived.cost()))
              .with("manifest_sha256", Sha256.of(derived.manifest()));
      finish(run, data, derived.ledgerLine().get(), ended);
    }
    return changed;
  }

  /** Puts the records back as they were final. */
  void restore(RunFolder run, Derived derived) {
    restore(run.cost(), derived.cost());
    restore(run.manifest(), derived.manifest());
  }

  private void restore(Path file, String text) {
    if (Files.exists(file) && !DurableFiles.read(file).equals(text)) {
      Path changed = file.resolveSibling(file.getFileName() + ".changed");
      workspace.files().replace(changed, DurableFiles.readBytes(file), "r--r--r--");
    }
    replace(file, text);
  }

  /** Adds the line of a run that is over; false where it has none. */
  boolean relist(
      RunFolder run, RunFacts facts, RunState journal, RunOutcome outcome, Set<JobState> credited) {
    Derived derived = derive(run, facts, journal, outcome, credited, new ArrayList<>());
    Optional<Instant> ended = Manifest.ended(outcome).or(journal::created);
    if (derived.ledgerLine().isEmpty() || ended.isEmpty()) {
      return false;
    }
    new Ledger(workspace).add(run.id(), ended.get(), derived.ledgerLine().get());
    return true;
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
    String text = Json.pretty(manifest);
    replace(run.manifest(), text);
    JsonObject failed =
        new JsonObject().with("status", "failed").with("manifest_sha256", Sha256.of(text));
    finish(run, failed, failed, Instant.EPOCH);
  }

  /** What was final once stays, beside the version that takes its place: an auditor sees both. */
  private void keepFinal(RunFolder run, RunState journal) {
    Path kept = run.cost(journal.timesFinished());
    if (journal.timesFinished() > 0 && Files.exists(run.cost()) && Files.notExists(kept)) {
      String digest = Sha256.of(DurableFiles.read(run.cost()));
      boolean changed =
          journal.costDigest().isPresent() && !journal.costDigest().get().equals(digest);
      // What somebody edited was never final: it stays under a name that says so.
      Path file = changed ? kept.resolveSibling(kept.getFileName() + ".changed") : kept;
      if (Files.notExists(file)) {
        workspace.files().create(file, DurableFiles.readBytes(run.cost()), "r--r--r--");
        workspace.files().force(workspace.manifests());
      }
    }
  }

  private void finish(RunFolder run, JsonObject finished, JsonObject line, Instant ended) {
    if (!ended.equals(Instant.EPOCH)) {
      new Ledger(workspace).add(run.id(), ended, line);
      passing.accept(CrashPoint.LEDGER_WRITTEN);
    }
    run.journal().append(Event.now(Event.Type.FINISHED, finished));
    passing.accept(CrashPoint.FINISHED_WRITTEN);
    close(run);
  }

  /** Takes a run whose files are final off the list. */
  public void close(RunFolder run) {
    workspace.markClosed(run.id());
  }

  private boolean replace(Path file, String text) {
    if (Files.exists(file) && DurableFiles.read(file).equals(text)) {
      return false;
    }
    workspace.files().replace(file, text);
    return true;
  }
}
