package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.RunRecords.Derived;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.units.BillingWeights;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Holds one run's files against its journal, and against what its journal and accounting make of
 * them today. Changes nothing.
 */
public final class Audit {
  private final Workspace workspace;
  private final RunFolder run;
  private final Map<String, BillingWeights> weights;
  private final List<String> differences = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private boolean derivedDiffers;
  private Optional<Settled> settled = Optional.empty();

  private Audit(Workspace workspace, RunFolder run, Map<String, BillingWeights> weights) {
    this.weights = weights;
    this.workspace = workspace;
    this.run = run;
  }

  /**
   * What was found.
   *
   * @param differences what is not as it should be, each with its file
   * @param notes what could not be checked, and why
   * @param correctable whether accounting now makes another record than the one that is kept
   * @param settled what the ledger's newest line of the run should say; empty while it is not over
   */
  public record Finding(
      List<String> differences,
      List<String> notes,
      boolean correctable,
      Optional<Settled> settled) {}

  /** What a finished run came to, as its kept record says. */
  public record Settled(String status, BigDecimal total) {}

  /** A run whose journal can't be followed: nothing else of it can be checked. */
  public static Finding broken(NexaException journal) {
    return new Finding(
        List.of(String.valueOf(journal.getMessage())), List.of(), false, Optional.empty());
  }

  /** A run that somebody works on just now. */
  public static Finding changing(RunFolder run) {
    List<String> note = List.of(run.id() + ": it changes just now, and was not checked");
    return new Finding(List.of(), note, false, Optional.empty());
  }

  /**
   * Checks a run.
   *
   * @param weights of the partitions, as they are today
   * @param open whether {@code runs/open} holds it
   */
  public static Finding of(
      Workspace workspace,
      RunFolder run,
      List<Event> events,
      Evidence evidence,
      Map<String, BillingWeights> weights,
      boolean open) {
    Audit audit = new Audit(workspace, run, weights);
    RunState state = RunState.of(events);
    audit.marker(state, open);
    if (events.isEmpty() && Files.exists(run.manifest())) {
      audit.differences.add(run.id() + "/journal.jsonl: missing");
    }
    for (Event event : events) {
      if (event.type() == Event.Type.CREATED) {
        audit.staged(event.data());
      }
    }
    audit.earlierVersions(events);
    if (state.finished()) {
      Event last = events.get(events.size() - 1);
      if (last.type() == Event.Type.FINISHED) {
        audit.told(last.data().text("status"));
        audit.kept(run.manifest(), last.data().optionalText("manifest_sha256"));
        // A run that died before it was planned has no prices, and no cost file.
        if (state.created().isPresent() || last.data().optionalText("cost_sha256").isPresent()) {
          audit.kept(run.cost(), last.data().optionalText("cost_sha256"));
          audit.derived(events.subList(0, events.size() - 1), evidence);
        }
      }
    }
    return new Finding(audit.differences, audit.notes, audit.derivedDiffers, audit.settled);
  }

  private void marker(RunState state, boolean open) {
    boolean created = state.created().isPresent();
    if (state.finished() && open) {
      differences.add("open/" + run.id() + ": it is there, and the journal says finished");
    } else if (created && !state.finished() && !open) {
      differences.add(
          "open/"
              + run.id()
              + ": missing, so no reconcile looks at the run; the journal says"
              + " unfinished");
    }
  }

  /**
   * Each cost record that was final before the newest one, by the digest that the journal tells.
   */
  private void earlierVersions(List<Event> events) {
    List<Optional<String>> digests = new ArrayList<>();
    for (Event event : events) {
      if (event.type() == Event.Type.FINISHED) {
        digests.add(event.data().optionalText("cost_sha256"));
      }
    }
    for (int version = 1; version < digests.size(); version++) {
      if (digests.get(version - 1).isPresent()) {
        kept(run.cost(version), digests.get(version - 1));
      }
    }
  }

  /** No line follows the journal's last one, so that its own digest is nowhere. */
  private void told(String status) {
    if (Files.notExists(run.manifest())) {
      return;
    }
    try {
      String kept = Json.parseObject(DurableFiles.read(run.manifest())).text("status");
      if (!kept.equals(status)) {
        differences.add(
            name(run.manifest()) + ": status is " + kept + ", the journal ends with " + status);
      }
    } catch (IllegalArgumentException noManifest) {
      differences.add(name(run.manifest()) + ": " + noManifest.getMessage());
    }
  }

  /** What was rendered and estimated, by the digests that the journal begins with. */
  private void staged(JsonObject created) {
    if (created.members().containsKey("imported")) {
      return;
    }
    JsonObject digests = created.optionalObject("sha256").orElseGet(JsonObject::new);
    for (Path file : List.of(run.plan(), run.estimate(), run.script())) {
      kept(file, digests.optionalText(file.getFileName().toString()));
    }
  }

  /** Whether a file is there and has the digest that the journal tells. */
  static boolean isProven(Path file, Optional<String> digest) {
    return Files.exists(file)
        && digest.isPresent()
        && Sha256.of(DurableFiles.read(file)).equals(digest.get());
  }

  private void kept(Path file, Optional<String> digest) {
    if (Files.notExists(file)) {
      differences.add(name(file) + ": missing");
      derivedDiffers |= file.equals(run.cost()) || file.equals(run.manifest());
    } else if (digest.isEmpty()) {
      notes.add(name(file) + ": the journal does not tell its digest");
    } else if (!isProven(file, digest)) {
      differences.add(name(file) + ": changed since the journal told its digest");
    }
  }

  private void derived(List<Event> before, Evidence evidence) {
    if (Files.notExists(run.cost()) || Files.notExists(run.manifest())) {
      return;
    }
    try {
      JsonObject cost = Json.parseObject(DurableFiles.read(run.cost()));
      // One that died before its first submission has no time, and no line in a month's ledger.
      if (RunState.of(before).created().isPresent()) {
        settled = Optional.of(new Settled(cost.text("status"), cost.decimal("total")));
      }
      if (Files.notExists(run.plan())) {
        notes.add(run.id() + ": imported, so only its digests were checked");
        return;
      }
      JsonObject manifest = Json.parseObject(DurableFiles.read(run.manifest()));
      RunState state = RunState.of(before);
      RunFacts facts = RunFacts.of(run);
      List<String> problems = new ArrayList<>();
      RunOutcome outcome = evidence.outcome(run, facts, state, problems);
      int kept = cost.object("actual").objects("attempts").size();
      if (outcome.attempts().size() < kept) {
        notes.add(
            run.id()
                + ": accounting tells of "
                + outcome.attempts().size()
                + " of its "
                + kept
                + " attempts, and has forgotten the others: only digests were checked");
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
      Witnesses witnesses = Witnesses.of(run, state, outcome);
      Derived derived =
          RunRecords.derive(
              run,
              facts,
              state,
              outcome.disagreeing(witnesses.told(), false),
              credited(cost),
              problems);
      compare(run.cost(), cost, asOf(cost, Json.parseObject(derived.cost())));
      compare(run.manifest(), manifest, Json.parseObject(derived.manifest()));
    } catch (IllegalArgumentException broken) {
      differences.add(run.id() + ": " + broken.getMessage());
      derivedDiffers |= Files.exists(run.plan());
    } catch (UncheckedIOException | NexaException broken) {
      differences.add(run.id() + ": " + broken.getMessage());
    }
  }

  /** A record of a version that did not tell the difference's parts is no wrong one. */
  private static JsonObject asOf(JsonObject kept, JsonObject derived) {
    if (kept.members().containsKey("difference_parts")) {
      return derived;
    }
    return without(derived, List.of("difference_parts"))
        .with("estimate", without(derived.object("estimate"), List.of("quote", "promised")));
  }

  private static JsonObject without(JsonObject whole, List<String> names) {
    JsonObject rest = new JsonObject();
    whole
        .members()
        .forEach(
            (name, value) -> {
              if (!names.contains(name)) {
                rest.with(name, value);
              }
            });
    return rest;
  }

  /** Our reading of AllocTRES against Slurm's; the weights are today's, so it is a note. */
  private void billing(RunOutcome outcome) {
    for (String disagreement : Billing.disagreements(outcome.attempts(), weights)) {
      notes.add(
          run.id()
              + ": "
              + disagreement
              + ": they have changed since, or accounting does not track all that they count");
    }
  }

  /** Who paid was settled with the record. */
  static Set<JobState> credited(JsonObject cost) {
    Set<JobState> credited = EnumSet.noneOf(JobState.class);
    for (String state : cost.object("credit").texts("states")) {
      credited.add(JobState.parse(state));
    }
    return credited;
  }

  private void compare(Path file, JsonObject kept, JsonObject derived) {
    for (String difference : JsonDifferences.between(kept, derived)) {
      derivedDiffers = true;
      differences.add(name(file) + ": " + difference);
    }
  }

  /** As seen from runs/. */
  private String name(Path file) {
    return workspace.runs().relativize(file).toString();
  }
}
