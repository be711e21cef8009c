package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.documents.FinalManifest;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.releases.WrittenLater.EvaluationInputs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the evaluation and the gate of a run's model among the runs of the workspace.
 *
 * <p>An evaluation is of the run that it names in {@code run_id}; if it names only itself, of the
 * run whose checkpoint it began with, found backward from input to input. The search stops at each
 * run that made a checkpoint, so that a student's evaluation is not taken for its teacher's.
 *
 * <p>Any job can write any metrics. Therefore a verdict counts only if it is of the data step
 * {@code gate}, which is our own program, and if its candidate is a file that an evaluation made.
 * An evaluation by another program than the data step {@code score} counts only if its inputs lead
 * to the model, whatever run it names.
 *
 * <p>All is read from manifests that agree with their journals. A gate whose verdict is not known
 * may have failed. Therefore no older verdict is taken instead of it. The runs are read once: each
 * command needs an object of its own.
 */
final class FindJudgement {
  private static final String EVALUATION = "evaluation";
  private static final String GATE = "gate";
  private static final String SCORE = "score";

  private final Workspace workspace;
  private final RunId run;
  private final EvaluationInputs inputs;
  private @Nullable List<Found> evaluations;
  private @Nullable List<Found> gates;

  FindJudgement(Workspace workspace, RunId run) {
    this.workspace = workspace;
    this.run = run;
    this.inputs = new EvaluationInputs(workspace, run);
  }

  /** A run that has ended, and the part of its metrics that is asked for. */
  record Found(RunId run, JsonObject metrics, Instant ended) {
    /** Returns whether this is a verdict, and the gate passed. */
    boolean passed() {
      return metrics.optionalText("verdict").equals(Optional.of("pass"));
    }
  }

  /** Returns what the evaluations were made of. */
  EvaluationInputs inputs() {
    return inputs;
  }

  /** Returns the newest evaluation of the run's model; empty if there is none. */
  Optional<Found> evaluation() {
    return newest(evaluations());
  }

  /** Returns all evaluations of the run's model. Reads all runs once. */
  private List<Found> evaluations() {
    if (evaluations == null) {
      evaluations =
          workspace.allRuns().stream()
              .flatMap(id -> read(workspace.run(id), EVALUATION).stream())
              .filter(this::isEvaluationOfRun)
              .toList();
    }
    return evaluations;
  }

  /**
   * Returns the newest verdict about the run's model, passed or failed; empty if there is none.
   *
   * @throws NexaException if a gate of the model is not over, or its manifest cannot be trusted
   */
  Optional<Found> gate() {
    return newest(gates());
  }

  /** Returns all verdicts about the run's model. Reads all runs once. */
  private List<Found> gates() {
    if (gates == null) {
      // A gate whose manifest is missing counts too.
      gates =
          workspace.everyRun().stream()
              .map(workspace::run)
              .filter(this::isGate)
              .flatMap(folder -> verdict(folder).stream())
              .filter(this::isGateOfRun)
              .toList();
    }
    return gates;
  }

  private Optional<Found> verdict(RunFolder folder) {
    Optional<ManifestFile> manifest;
    try {
      manifest = FinalManifest.of(folder);
    } catch (NexaException | UncheckedIOException | IllegalArgumentException damaged) {
      if (readsEvaluationOfRun(folder.id())) {
        throw ErrorCode.RUN_NOT_SUITABLE.error(
            "the verdict of the gate " + folder.id() + " is not known: " + damaged.getMessage(),
            Advice.command("puts back what was final", "nexa-slurm audit --repair", folder.id()));
      }
      return Optional.empty();
    }
    if (manifest.isEmpty() && readsEvaluationOfRun(folder.id())) {
      throw ErrorCode.RUN_NOT_SETTLED.error(
          "the gate " + folder.id() + " of the same model is not over: it may fail",
          Advice.command("settles a run that has ended", "nexa-slurm reconcile"),
          Advice.command("ends it without a verdict", "nexa-slurm cancel", folder.id()));
    }
    return manifest.flatMap(one -> found(folder.id(), one, GATE));
  }

  /**
   * Returns the evaluation that a named run made.
   *
   * @throws NexaException if it made none, or one of another model
   */
  Found evaluation(RunId named) {
    return named(named, EVALUATION, "--eval", this::isEvaluationOfRun);
  }

  /**
   * Returns the verdict of a named run.
   *
   * @throws NexaException if it has none, or one about another model, or if a newer one failed
   */
  Found gate(RunId named) {
    Found found = named(named, GATE, "--gate", this::isGateOfRun);
    Found newest = gate().orElse(found);
    if (newest.ended().isAfter(found.ended()) && !newest.passed()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          "--gate: after " + named + ", the gate " + newest.run() + " of the same model failed",
          Advice.command("says why", "nexa-slurm why", newest.run()),
          Advice.step("evaluate the model again, and type release package without --gate"));
    }
    return found;
  }

  private Found named(RunId named, String key, String option, Predicate<Found> isOfRun) {
    Optional<Found> found = read(workspace.run(named), key);
    if (found.isEmpty()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          option + ": the run " + named + " has not ended with " + article(key),
          "leave out " + option + ", or name a run of the step " + step(key));
    }
    if (!isOfRun.test(found.get())) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          option + ": " + article(key) + " of " + named + " is not about the model of " + run,
          Advice.step(
              "name a run whose inputs lead to " + run + ", or evaluate with run_id: " + run),
          Advice.command("", "nexa-slurm explain docs/releases.md#package"));
    }
    return found.get();
  }

  private static String article(String key) {
    return key.equals(GATE) ? "the verdict of a gate" : "an evaluation";
  }

  private static String step(String key) {
    return key.equals(GATE) ? "data.gate" : "data.score";
  }

  private static Optional<Found> newest(List<Found> found) {
    return found.stream()
        .max(Comparator.comparing(Found::ended).thenComparing(one -> one.run().value()));
  }

  private Optional<Found> read(RunFolder folder, String key) {
    // Audit reports a damaged manifest. It must not hide the other runs.
    return EvaluationInputs.undamaged(
        () ->
            // A workspace may have 100,000 runs, and only those with the key are worth reading.
            Files.exists(folder.manifest())
                    && DurableFiles.read(folder.manifest()).contains("\"" + key + "\"")
                ? FinalManifest.of(folder).flatMap(one -> found(folder.id(), one, key))
                : Optional.empty());
  }

  private static Optional<Found> found(RunId id, ManifestFile manifest, String key) {
    return manifest
        .metrics()
        .optionalObject(key)
        .flatMap(metrics -> manifest.ended().map(ended -> new Found(id, metrics, ended)));
  }

  private boolean isEvaluationOfRun(Found evaluation) {
    RunId own = evaluation.run();
    RunId named = evaluation.metrics().optionalText("run_id").flatMap(RunId::parse).orElse(own);
    return named.equals(own)
        ? inputs.models(own).equals(Set.of(run))
        : named.equals(run) && (isScore(evaluation) || inputs.models(own).equals(Set.of(run)));
  }

  /** Returns the program that computed an evaluation: {@code data.score}, or the backend's name. */
  String maker(Found evaluation) {
    Optional<PlanFile> plan = inputs.plan(evaluation.run());
    return plan.flatMap(PlanFile::dataStep)
        .map(step -> "data." + step)
        .or(() -> plan.flatMap(PlanFile::backend))
        .orElse(ReleaseFile.UNKNOWN);
  }

  /** Returns the gates of the same model that failed before this verdict, the oldest first. */
  List<String> failedBefore(Found gate) {
    return gates().stream()
        .filter(one -> !one.passed() && one.ended().isBefore(gate.ended()))
        .sorted(Comparator.comparing(Found::ended))
        .map(one -> one.run().value())
        .toList();
  }

  private boolean isScore(Found evaluation) {
    return inputs.plan(evaluation.run()).filter(one -> isStep(one, SCORE)).isPresent();
  }

  /** Returns whether a run is a gate, by its plan: what it wrote may be missing or changed. */
  private boolean isGate(RunFolder folder) {
    try {
      return folder.planHolds("\"" + GATE + "\"")
          && inputs.plan(folder.id()).filter(one -> isStep(one, GATE)).isPresent();
    } catch (UncheckedIOException unreadable) {
      return false;
    }
  }

  private boolean readsEvaluationOfRun(RunId gate) {
    Set<RunId> read = inputs.of(gate);
    return read.contains(run)
        || evaluations().stream().anyMatch(evaluation -> read.contains(evaluation.run()));
  }

  private boolean isGateOfRun(Found gate) {
    return judged(gate).isPresent();
  }

  /** Returns the evaluation of the run's model that a gate judged; empty if it judged another. */
  Optional<Found> judged(Found gate) {
    Optional<PlanFile> plan = inputs.plan(gate.run()).filter(one -> isStep(one, GATE));
    Optional<String> written = gate.metrics().optionalText("candidate");
    if (plan.isEmpty() || written.isEmpty()) {
      return Optional.empty();
    }
    String candidate = plan.get().storage().written(written.get());
    Set<RunId> named = EvaluationInputs.runsIn(candidate);
    // Only these can have made the file: its name has the evaluation's id, or the model's.
    return evaluations().stream()
        .filter(one -> named.contains(one.run()) || named.contains(run))
        .filter(one -> made(one.run(), Path.of(candidate)))
        .findFirst();
  }

  private static boolean isStep(PlanFile plan, String step) {
    return plan.dataStep().equals(Optional.of(step));
  }

  /**
   * Returns whether a file is in the output folder of a run, or is a copy of a file there of the
   * same name. The step score copies its files to the folder of all evaluations.
   */
  private boolean made(RunId id, Path file) {
    Optional<PlanFile> plan = inputs.plan(id);
    if (plan.isEmpty()) {
      return false;
    }
    Path output = Path.of(plan.get().storage().durable(), plan.get().outputs(), id.value());
    try {
      Path real = file.toRealPath();
      return real.startsWith(output.toRealPath())
          || (Files.isRegularFile(real)
              && Files.mismatch(real, output.resolve(real.getFileName().toString())) < 0);
    } catch (IOException gone) {
      return false;
    }
  }
}
