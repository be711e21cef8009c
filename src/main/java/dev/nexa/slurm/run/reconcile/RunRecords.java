package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.money.ledger.Ledger;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.RunCost;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.telemetry.Telemetry;
import dev.nexa.slurm.run.results.TaskResults;
import dev.nexa.slurm.run.submit.CrashPoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Writes a run's manifest and cost file, and closes the run when they are final.
 *
 * <p>A file whose content would not change is not written. The caller holds the run's lock.
 */
public final class RunRecords {
  private final Workspace workspace;
  private final Consumer<CrashPoint> passing;
  private final Optional<EndNotice> notices;

  /** Makes a writer that sends no notification of the end of a run. */
  public RunRecords(Workspace workspace, Consumer<CrashPoint> passing) {
    this(workspace, passing, Optional.empty());
  }

  /**
   * Makes a writer.
   *
   * @param notices records the end of a run for people; empty for no notifications
   */
  RunRecords(Workspace workspace, Consumer<CrashPoint> passing, Optional<EndNotice> notices) {
    this.workspace = workspace;
    this.passing = passing;
    this.notices = notices;
  }

  /** The records of a run, derived from its journal and its rows. */
  public record Derived(ManifestFile manifest, CostFile cost) {}

  /**
   * Derives the records. Writes nothing.
   *
   * @param credited the states whose attempts the cluster pays for
   * @param problems receives a line for each metrics file that cannot be read
   */
  public static Derived derive(
      RunFolder run,
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      Set<JobState> credited,
      List<String> problems) {
    TaskResults results = results(run, facts, journal, outcome, problems);
    RunCost sum = CostRecord.cost(facts, journal, outcome, results);
    CostFile cost = CostRecord.of(facts, journal, outcome, sum, results, credited);
    return new Derived(manifest(facts, journal, outcome, sum, results), cost);
  }

  /** Reads what the tasks left; of an ended run also what was sampled. */
  public static TaskResults results(
      RunFolder run, RunFacts facts, RunState journal, RunOutcome outcome, List<String> problems) {
    boolean sweep = !facts.work().points().isEmpty();
    TaskResults results = TaskResults.read(run, journal, sweep, problems);
    return outcome.ended() ? results.sampled(Telemetry.of(run, journal), sweep) : results;
  }

  /** Returns the manifest. Equal facts give equal bytes, so it does not hold the time. */
  static ManifestFile manifest(
      RunFacts facts, RunState journal, RunOutcome outcome, RunCost cost, TaskResults results) {
    EstimateFile estimate = facts.estimate();
    List<JsonObject> points =
        facts.work().points().isEmpty()
            ? List.of()
            : SweepPoints.of(facts.work().points(), outcome.tasks(), results.byTask());
    return ManifestFile.of(
            facts.id(),
            facts.labels().stage(),
            outcome.status(),
            outcome.state(),
            facts.logs(),
            facts.labels().tags())
        .planned(facts.labels().model(), facts.labels().dataset(), facts.labels().hardware())
        .cost(cost)
        .submitted(
            facts.place().cluster(),
            facts.place().scheduler(),
            estimate.isOfImported() ? Optional.empty() : Optional.of(estimate.configDigest()),
            facts.program())
        .code(facts.code())
        .tasks(facts.tasks(), outcome.counts(), outcome.attempts().size())
        .packed(results.packed(facts.work().packed()))
        .metrics(results.metrics())
        .times(
            journal.created(), outcome.begin(), outcome.ended() ? outcome.end() : Optional.empty())
        .findings(outcome.disagreements(), results.unfitNodes(), results.failures())
        .submissions(journal)
        .points(points)
        .telemetry(results.telemetry().map(Codec::write))
        .remediation(journal.remediations());
  }

  /**
   * Derives and writes the records; closes the run if it has ended.
   *
   * @return true if a file changed
   */
  public boolean write(
      RunFolder run,
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      Set<JobState> credited,
      List<String> problems) {
    Derived derived = derive(run, facts, journal, outcome, credited, problems);
    String cost = derived.cost().text();
    String manifest = derived.manifest().text();
    String kept = "";
    if (Files.exists(run.cost())) {
      kept = DurableFiles.read(run.cost());
      CostFile.requireReplaceable(kept, run.cost().toString());
    }
    keepFinal(run, journal);
    boolean changed = !kept.equals(cost);
    if (changed) {
      workspace.files().replace(run.cost(), cost);
    }
    if (outcome.ended()) {
      passing.accept(CrashPoint.FINAL_COST_WRITTEN);
    }
    changed |= replace(run.manifest(), manifest);
    passing.accept(
        outcome.ended() ? CrashPoint.FINAL_MANIFEST_WRITTEN : CrashPoint.MANIFEST_WRITTEN);
    if (outcome.ended()) {
      Instant ended = outcome.end().or(journal::created).orElse(Instant.EPOCH);
      JsonObject data =
          finished(
              outcome.status().text(),
              journal.timesFinished() + 1,
              Sha256.of(cost),
              Sha256.of(manifest));
      if (notices.isPresent() && !facts.estimate().isOfImported()) {
        notices.get().record(run, journal, derived.manifest());
      }
      JsonObject line =
          LedgerRecord.of(run, Optional.of(facts), derived.manifest(), derived.cost());
      finish(run, data, line, ended);
    }
    return changed;
  }

  /** Writes final records back. Keeps a file with another content as {@code *.changed}. */
  public void restore(RunFolder run, Derived derived) {
    restore(run.cost(), derived.cost().text());
    restore(run.manifest(), derived.manifest().text());
  }

  private void restore(Path file, String text) {
    if (Files.exists(file) && !DurableFiles.read(file).equals(text)) {
      Path changed = file.resolveSibling(file.getFileName() + ".changed");
      workspace.files().replace(changed, DurableFiles.readBytes(file), "r--r--r--");
    }
    replace(file, text);
  }

  /**
   * Adds the ledger line of a finished run from its kept records.
   *
   * @return false if the run has no end time, and so belongs to no month
   */
  public boolean relist(
      RunFolder run,
      Optional<RunFacts> facts,
      RunState journal,
      ManifestFile manifest,
      CostFile cost) {
    Optional<Instant> ended = manifest.ended().or(journal::created);
    if (ended.isEmpty()) {
      return false;
    }
    JsonObject line = LedgerRecord.of(run, facts, manifest, cost);
    new Ledger(workspace).add(run.id(), ended.get(), line);
    return true;
  }

  /** Appends the lost {@code finished} line to the journal again, and closes the run. */
  public void finishAgain(RunFolder run, List<Event> missing, CostFile cost) {
    JsonObject data =
        finished(
            cost.status().text(),
            cost.version(),
            Sha256.of(DurableFiles.readBytes(run.cost())),
            Sha256.of(DurableFiles.readBytes(run.manifest())));
    List<Event> lines = new ArrayList<>(missing);
    lines.add(Event.now(Event.Type.FINISHED, data));
    run.journal().append(lines.toArray(Event[]::new));
    passing.accept(CrashPoint.FINISHED_WRITTEN);
    workspace.markClosed(run.id());
  }

  private static JsonObject finished(String status, long version, String cost, String manifest) {
    return new JsonObject()
        .with("status", status)
        .with("cost_version", version)
        .with("cost_sha256", cost)
        .with("manifest_sha256", manifest);
  }

  /**
   * Closes a run whose submitter died before the run was planned; its manifest says that nothing
   * was submitted.
   */
  public void abandon(RunFolder run, RunState journal) {
    String stage = run.id().value().substring(0, run.id().value().indexOf('_'));
    String text =
        ManifestFile.of(
                run.id(),
                stage,
                RunStatus.FAILED,
                ManifestFile.NOT_SUBMITTED,
                run.logs().toString(),
                List.of())
            .text();
    replace(run.manifest(), text);
    JsonObject failed =
        new JsonObject()
            .with("status", RunStatus.FAILED.text())
            .with("manifest_sha256", Sha256.of(text));
    finish(run, failed, failed, Instant.EPOCH);
  }

  /** Keeps the earlier final cost file beside the new version, for auditors. */
  private void keepFinal(RunFolder run, RunState journal) {
    Path kept = run.cost(journal.timesFinished());
    if (journal.timesFinished() > 0 && Files.exists(run.cost()) && Files.notExists(kept)) {
      String digest = Sha256.of(DurableFiles.read(run.cost()));
      boolean changed =
          journal.costDigest().isPresent() && !journal.costDigest().get().equals(digest);
      // An edited file was never final, so it gets another name.
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
