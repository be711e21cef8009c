package dev.nexa.slurm.run.audit;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.diagnosis.Finding;
import dev.nexa.slurm.run.reconcile.BillingCheck;
import dev.nexa.slurm.run.reconcile.DurableCopies;
import dev.nexa.slurm.run.reconcile.FaultyRow;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.RunPass;
import dev.nexa.slurm.run.reconcile.RunRecords;
import dev.nexa.slurm.run.reconcile.RunRecords.Derived;
import dev.nexa.slurm.run.reconcile.SourceComparison;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compares one run's files with its journal, and with the records that its journal and accounting
 * yield today. Writes nothing.
 */
public final class Audit {
  private static final String CHANGED = ": changed since the journal told its digest";

  private final Workspace workspace;
  private final RunFolder run;
  private final Map<String, BillingWeights> weights;
  private final List<String> differences = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final ProvenFiles files;
  private boolean derivedDiffers;
  private Optional<Settled> settled = Optional.empty();

  private Audit(
      Workspace workspace, RunFolder run, ProvenFiles files, Map<String, BillingWeights> weights) {
    this.weights = weights;
    this.workspace = workspace;
    this.run = run;
    this.files = files;
  }

  /**
   * The result of an audit.
   *
   * @param differences the errors, each with its file
   * @param notes the checks that were not possible, and why
   * @param correctable whether a repair may change the records: the derived records differ, a
   *     record is missing or broken, or a job of a submission that was given up has appeared
   * @param unfinished whether the run is unfinished in its journal but missing in {@code runs/open}
   * @param copies whether the records on the durable tier are the run's records
   * @param settled the content that the run's newest ledger line should have; empty if the run has
   *     not ended
   */
  public record Finding(
      List<String> differences,
      List<String> notes,
      boolean correctable,
      boolean unfinished,
      DurableCopies.State copies,
      Optional<Settled> settled) {
    /** Returns whether the run's records have no copies on the durable tier. */
    public boolean lacksCopies() {
      return copies == DurableCopies.State.MISSING;
    }

    /**
     * Returns whether copies on the durable tier differ from the run's records. Then the finding
     * has no other differences.
     */
    public boolean hasChangedCopies() {
      return copies == DurableCopies.State.CHANGED;
    }

    /** Returns the differences of the copies. */
    public List<String> copyDifferences() {
      return hasChangedCopies() ? differences : List.of();
    }

    /** Returns the finding after the copies were repaired. */
    public Finding withoutCopies() {
      return new Finding(
          hasChangedCopies() ? List.of() : differences,
          notes,
          correctable,
          unfinished,
          DurableCopies.State.EQUAL,
          settled);
    }
  }

  /**
   * The final state of a run, from its kept cost file.
   *
   * @param version the version of the cost file
   * @param timesFinished how often the journal says that the run has finished
   */
  public record Settled(RunStatus status, BigDecimal total, long version, int timesFinished) {}

  /** Returns the result for a run that cannot be checked because a file cannot be read. */
  public static Finding broken(RunFolder run, RuntimeException failed) {
    String why = failed.getMessage() == null ? failed.toString() : failed.getMessage();
    return unchecked(
        List.of(why.contains(run.id().value()) ? why : run.id() + ": " + why), List.of());
  }

  /** Returns the result for a run that another process is changing. */
  public static Finding changing(RunFolder run) {
    return unchecked(List.of(), List.of(run.id() + ": it changes just now, and was not checked"));
  }

  private static Finding unchecked(List<String> differences, List<String> notes) {
    return new Finding(
        differences, notes, false, false, DurableCopies.State.EQUAL, Optional.empty());
  }

  /**
   * Checks a run.
   *
   * @param weights the billing weights of the partitions today
   * @param open whether {@code runs/open} holds the run
   */
  public static Finding of(
      Workspace workspace,
      RunFolder run,
      List<Event> events,
      TaskEvidence evidence,
      Map<String, BillingWeights> weights,
      boolean open) {
    Audit audit = new Audit(workspace, run, ProvenFiles.of(run, events), weights);
    RunState state = RunState.of(events);
    audit.marker(state, open);
    if (events.isEmpty() && (Files.exists(run.manifest()) || Files.exists(run.cost()))) {
      audit.differences.add(run.id() + "/journal.jsonl: missing");
    }
    events.stream()
        .filter(event -> event.type() == Event.Type.CREATED)
        .forEach(created -> audit.checkStagedFiles(created.data()));
    audit.earlierVersions(events);
    for (Submission submission : state.submissions()) {
      Optional<Event> found = RunPass.findLateJob(run, state, submission, evidence, Instant.EPOCH);
      if (found.isPresent() && state.finished()) {
        audit.derivedDiffers = true;
        audit.differences.add(
            "%s: job %s has the name %s, of which the journal says that there is no job"
                .formatted(run.id(), found.get().data().number("job_id"), submission.key()));
      }
    }
    if (state.finished() && end(events) >= 0) {
      JsonObject last = events.get(end(events)).data();
      audit.checkStatus(last.text("status"));
      Event newest = events.get(events.size() - 1);
      audit.checkKept(run.manifest(), newest.data().optionalText("manifest_sha256"));
      audit.rows();
      // A run that died before it was planned has no prices and no cost file.
      if (state.created().isPresent() || last.optionalText("cost_sha256").isPresent()) {
        audit.checkKept(run.cost(), last.optionalText("cost_sha256"));
        audit.derived(beforeEnd(events), evidence);
      }
    }
    return new Finding(
        audit.differences,
        audit.notes,
        audit.derivedDiffers,
        state.created().isPresent() && !state.finished() && !open,
        audit.copies(state),
        audit.settled);
  }

  /** Compares the copies on the durable tier, unless the run's own records are in doubt. */
  private DurableCopies.State copies(RunState state) {
    if (!state.finished()
        || state.submissions().isEmpty()
        || !differences.isEmpty()
        || Files.notExists(run.plan())) {
      return DurableCopies.State.EQUAL;
    }
    List<Path> changed = new ArrayList<>();
    DurableCopies.State copies = new DurableCopies(run, files.plan().storage()).state(changed);
    changed.forEach(
        copy -> differences.add(run.id() + ": " + copy + " is not the run's record any more"));
    return copies;
  }

  /** Returns the index of the last line about the run; remediations may follow. -1 if none. */
  private static int end(List<Event> events) {
    int last = events.size() - 1;
    while (last >= 0 && events.get(last).type() == Event.Type.REMEDIATED) {
      last--;
    }
    return last >= 0 && events.get(last).type() == Event.Type.FINISHED ? last : -1;
  }

  /** Returns the events that decide the final records: all but the last end. */
  static List<Event> beforeEnd(List<Event> events) {
    List<Event> before = new ArrayList<>(events);
    int end = end(events);
    before.remove(end < 0 ? events.size() - 1 : end);
    return before;
  }

  private void marker(RunState state, boolean open) {
    if (state.finished() && open) {
      differences.add("open/" + run.id() + ": it is there, and the journal says finished");
    } else if (state.created().isPresent() && !state.finished() && !open) {
      differences.add(
          "open/%s: missing, so no reconcile looks at the run; the journal says unfinished"
              .formatted(run.id()));
    }
  }

  /** Checks each earlier final cost file against its digest in the journal. */
  private void earlierVersions(List<Event> events) {
    List<Optional<String>> digests =
        events.stream()
            .filter(event -> event.type() == Event.Type.FINISHED)
            .map(event -> event.data().optionalText("cost_sha256"))
            .toList();
    for (int version = 1; version < digests.size(); version++) {
      if (digests.get(version - 1).isPresent()) {
        checkKept(run.cost(version), digests.get(version - 1));
      }
    }
  }

  /**
   * Compares the manifest's status with the journal's last line, whose own digest no later line
   * holds.
   */
  private void checkStatus(String status) {
    if (Files.notExists(run.manifest())) {
      return;
    }
    try {
      String kept = ManifestFile.read(run).requireWhole().status().text();
      if (!kept.equals(status)) {
        differences.add(
            name(run.manifest()) + ": status is " + kept + ", the journal ends with " + status);
      }
    } catch (IllegalArgumentException | NexaException noManifest) {
      differences.add(name(run.manifest()) + ": " + noManifest.getMessage());
    }
  }

  /** Checks that a data stage that completed lost no row. */
  private void rows() {
    if (Files.notExists(run.manifest()) || Files.notExists(run.plan())) {
      return;
    }
    try {
      ManifestFile manifest = ManifestFile.read(run);
      if (manifest.status() == RunStatus.COMPLETED && files.plan().dataStep().isPresent()) {
        RowCounts.difference(manifest.metrics())
            .ifPresent(wrong -> differences.add(name(run.manifest()) + ": " + wrong));
      }
    } catch (IllegalArgumentException | NexaException broken) {
      return; // The check of the digests reports it.
    }
  }

  /**
   * Checks the plan, the estimate and the script against the digests in the journal's first line.
   */
  private void checkStagedFiles(JsonObject created) {
    if (created.members().containsKey("imported")) {
      return;
    }
    Stream.of(run.plan(), run.estimate(), run.script())
        .filter(file -> files.digest(file).isEmpty())
        .forEach(file -> checkKept(file, Optional.empty()));
    for (ProvenFiles.Changed changed : files.changes()) {
      boolean missing = changed.found().isEmpty();
      differences.add(name(changed.file()) + (missing ? ": missing" : CHANGED));
    }
  }

  /**
   * Returns how many attempts of a cost file cannot be the run's. Such an attempt was queued before
   * any of the run's submissions was sent, and accounting has a later attempt of the same task.
   */
  static long tooEarly(CostFile cost, RunState state, RunOutcome outcome) {
    Instant first =
        state.submissions().stream()
            .map(Submission::intended)
            .min(Comparator.naturalOrder())
            .orElse(Instant.MAX);
    Set<Long> tasks =
        outcome.attempts().stream()
            .filter(row -> !FaultyRow.isTooEarly(row.submit(), first))
            .map(row -> (long) row.tasks().indices().get(0))
            .collect(Collectors.toSet());
    return tasks.isEmpty()
        ? 0
        : cost.attempts().stream()
            .filter(attempt -> tasks.contains(attempt.task()))
            .filter(one -> FaultyRow.isTooEarly(one.submit().orElse(Instant.EPOCH), first))
            .count();
  }

  /** Returns whether a file exists and has this digest. */
  static boolean isProven(Path file, Optional<String> digest) {
    return Files.isRegularFile(file)
        && digest.filter(it -> it.equals(Sha256.of(DurableFiles.readBytes(file)))).isPresent();
  }

  private void checkKept(Path file, Optional<String> digest) {
    if (Files.notExists(file)) {
      differences.add(name(file) + ": missing");
      derivedDiffers |= file.equals(run.cost()) || file.equals(run.manifest());
    } else if (digest.isEmpty()) {
      notes.add(name(file) + ": the journal does not tell its digest");
    } else if (!isProven(file, digest)) {
      differences.add(name(file) + CHANGED);
    }
  }

  private void derived(List<Event> before, TaskEvidence evidence) {
    if (Files.notExists(run.cost()) || Files.notExists(run.manifest())) {
      return;
    }
    try {
      CostFile cost = CostFile.read(run);
      // A run that died before its first submission has no end time and no ledger line.
      RunState state = RunState.of(before);
      if (state.created().isPresent()) {
        int times = state.timesFinished() + 1;
        settled =
            Optional.of(new Settled(cost.status(), cost.total().amount(), cost.version(), times));
      }
      if (Files.notExists(run.plan())) {
        notes.add(run.id() + ": imported, so only its digests were checked");
        return;
      }
      Optional<ProvenFiles.Changed> changed = files.settlementChange();
      if (changed.isPresent()) {
        notes.add(
            ("%s: what accounting tells was not compared, because %s; put it back as it was,"
                    + " from a backup")
                .formatted(run.id(), changed.get().sentence()));
        return;
      }
      ManifestFile manifest = ManifestFile.read(run);
      RunFacts facts = RunFacts.of(run, files).loggingAs(manifest);
      List<String> problems = new ArrayList<>();
      RunOutcome outcome = evidence.outcome(run, facts, state, problems);
      for (FaultyRow row : evidence.faulty(state)) {
        (row.waits(evidence.asked()) ? differences : notes)
            .add(run.id() + ": " + row.told(evidence.asked()));
      }
      if (evidence.isInDoubt(state)) {
        return;
      }
      long foreign = tooEarly(cost, state, outcome);
      if (foreign > 0) {
        derivedDiffers = true;
        differences.add(
            ("%s: %s of its attempts were queued before the run was submitted, so they are not"
                    + " the run's")
                .formatted(name(run.cost()), foreign));
      }
      long kept = cost.attemptCount() - foreign;
      if (outcome.attempts().size() < kept) {
        notes.add(
            ("%s: accounting has %s of its %s attempts, and has forgotten the others: only"
                    + " digests were checked")
                .formatted(run.id(), outcome.attempts().size(), kept));
        return;
      }
      if (!evidence.accountingKept()) {
        notes.add(
            run.id()
                + ": this cluster keeps no accounting, and slurmctld forgets: only digests were"
                + " checked");
        return;
      }
      billing(outcome);
      SourceComparison witnesses = SourceComparison.of(run, state, outcome);
      Derived derived =
          RunRecords.derive(
              run,
              facts,
              state,
              outcome.disagreeing(evidence.disagreements(state, witnesses.told()), false),
              cost.credited(),
              problems);
      JsonObject made = derived.cost().comparableTo(cost);
      compare(run.cost(), cost.json(), made, KnownMembers.OF_COST);
      JsonObject again = derived.manifest().comparableTo(manifest);
      compare(run.manifest(), manifest.json(), again, KnownMembers.OF_MANIFEST);
    } catch (IllegalArgumentException broken) {
      differences.add(run.id() + ": " + broken.getMessage());
      derivedDiffers |= files.settlementChange().isEmpty() && Files.exists(run.plan());
    } catch (UncheckedIOException | NexaException broken) {
      differences.add(run.id() + ": " + broken.getMessage());
    }
  }

  /**
   * Compares our reading of AllocTRES with Slurm's {@code billing}. A difference is a note, because
   * the weights are today's.
   */
  private void billing(RunOutcome outcome) {
    String why = ": they have changed since, or accounting does not track all that they count";
    BillingCheck.disagreements(outcome.attempts(), weights)
        .forEach(disagreement -> notes.add(run.id() + ": " + disagreement + why));
  }

  private void compare(Path file, JsonObject kept, JsonObject derived, KnownMembers known) {
    JsonDifferences compared = JsonDifferences.between(kept, derived, known);
    for (String difference : compared.found()) {
      derivedDiffers = true;
      differences.add(name(file) + ": " + difference);
    }
    if (!compared.unknown().isEmpty()) {
      notes.add(
          "%s: not compared, because only a newer nexa-slurm knows it: %s"
              .formatted(name(file), String.join(", ", compared.unknown())));
    }
  }

  /** Returns the path relative to runs/. */
  private String name(Path file) {
    return workspace.runs().relativize(file).toString();
  }
}
