package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.approvals.GuardedPath;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.lineage.LineageGraph;
import dev.nexa.slurm.storage.lineage.LineageNode;
import dev.nexa.slurm.storage.lineage.LineageNode.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * A release before its files are read: the facts of the run, and where each file comes from.
 *
 * @param facts the document without its list of files
 * @param model the files of the model
 * @param written the other files, by their paths in the release
 * @param notes why an evaluation or a gate that was found does not count
 */
public record ReleaseDraft(
    ReleaseFile facts, ModelSource model, TreeMap<String, byte[]> written, List<String> notes) {
  private static final String EVALUATION = "eval/evaluation.json";
  private static final String GATE = "eval/gate.json";

  /**
   * What the user chose; what is empty is found.
   *
   * @param name the release's name
   * @param checkpoint the folder of the model
   * @param evaluation the run that evaluated the model
   * @param gate the run of the gate
   * @param licence the licence, an SPDX expression
   */
  public record Choices(
      Optional<String> name,
      Optional<Path> checkpoint,
      Optional<RunId> evaluation,
      Optional<RunId> gate,
      Optional<String> licence) {}

  /**
   * Collects a release.
   *
   * @param task the task of a run with several tasks
   * @param lineage the graph of the workspace
   * @throws NexaException if the run has not completed, or its checkpoint is no whole model
   */
  public static ReleaseDraft of(
      Workspace workspace, RunFolder run, OptionalInt task, Choices choices, LineageGraph lineage) {
    ManifestFile manifest = completed(run);
    PlanFile plan = ProvenFiles.of(run).plan();
    Path checkpoint =
        choices.checkpoint().orElseGet(() -> FindCheckpoint.of(run.id(), plan, manifest, task));
    ModelSource model = ModelSource.read(checkpoint);
    FindJudgement judgement = new FindJudgement(workspace, run.id());
    Optional<FindJudgement.Found> evaluation =
        choices.evaluation().map(judgement::evaluation).or(judgement::evaluation);
    Optional<FindJudgement.Found> gate = choices.gate().map(judgement::gate).or(judgement::gate);
    if (choices.checkpoint().isPresent()
        && !isOwn(model, run.id(), plan, manifest, task)
        && evaluation.filter(one -> judgement.inputs().reads(one.run(), model.root())).isEmpty()) {
      requireNoJudgementNamed(choices, model, run.id());
      evaluation = Optional.empty();
      gate = Optional.empty();
    }
    List<String> notes = new ArrayList<>();
    if (evaluation.isPresent()) {
      Optional<String> later = later(judgement, evaluation.get(), checkpoint, model);
      requireNotNamed(choices.evaluation(), later);
      evaluation = later.isEmpty() ? evaluation : Optional.empty();
      later.ifPresent(notes::add);
    }
    if (gate.isPresent()) {
      Optional<String> later =
          judgement
              .judged(gate.get())
              .flatMap(judged -> later(judgement, judged, checkpoint, model));
      requireNotNamed(choices.gate(), later);
      gate = later.isEmpty() ? gate : Optional.empty();
      later.filter(why -> !notes.contains(why)).ifPresent(notes::add);
    }
    TreeMap<String, byte[]> written = new TreeMap<>(ReleaseContent.ORDER);
    // JSON is YAML too, and the plan is the config with everything resolved.
    written.put("config.yaml", bytes(Json.pretty(plan.json())));
    written.put("manifest.json", DurableFiles.readBytes(run.manifest()));
    if (Files.exists(run.cost())) {
      written.put("cost.json", DurableFiles.readBytes(run.cost()));
    }
    evaluation.ifPresent(it -> written.put(EVALUATION, bytes(Json.pretty(it.metrics()))));
    gate.ifPresent(it -> written.put(GATE, bytes(Json.pretty(it.metrics()))));
    String usual = run.id() + (task.isPresent() ? "_" + task.getAsInt() : "");
    ReleaseFile facts =
        new ReleaseFile(
            new ReleaseFile.Origin(
                ReleaseFolder.requireName(choices.name().orElse(usual)),
                run.id().value(),
                manifest.ended().orElseThrow(() -> unsettled(run)),
                new UnixUser(run.owner(), GuardedPath.owner(run.path()).map(Integer::longValue)),
                manifest.json().optionalText("config_digest").orElse(ReleaseFile.UNKNOWN)),
            new ReleaseFile.Model(
                plan.stage(),
                plan.backend(),
                model.adapter() ? model.base().or(plan::model) : plan.model().or(model::base),
                model.modelClass(),
                model.adapter()),
            datasets(lineage, run.id()),
            parents(lineage, run.id()),
            pipeline(workspace, run.id()),
            evaluation.map(
                it ->
                    new ReleaseFile.Evaluation(
                        it.run().value(),
                        Optional.of(judgement.maker(it)),
                        EVALUATION,
                        it.metrics())),
            gate.map(
                it ->
                    new ReleaseFile.Gate(
                        it.run().value(),
                        it.passed(),
                        GATE,
                        it.metrics(),
                        judgement.failedBefore(it))),
            choices.licence().orElse(ReleaseFile.UNKNOWN),
            model.pickles(),
            List.of());
    written.put("README.md", bytes(ModelCard.text(facts, manifest)));
    return new ReleaseDraft(facts, model, written, List.copyOf(notes));
  }

  /** Returns why an evaluation is not of the model as it is now; empty if it is. */
  private static Optional<String> later(
      FindJudgement judgement, FindJudgement.Found evaluation, Path checkpoint, ModelSource model) {
    return judgement
        .inputs()
        .began(evaluation.run(), model.root())
        .flatMap(
            began ->
                WrittenLater.of(checkpoint, model, began)
                    .map(
                        what ->
                            what
                                + ", after the evaluation "
                                + evaluation.run()
                                + " began at "
                                + began
                                + ": neither this evaluation nor its gate counts"));
  }

  private static void requireNotNamed(Optional<RunId> named, Optional<String> later) {
    if (named.isPresent() && later.isPresent()) {
      throw new NexaException(
          ErrorCode.RUN_NOT_SUITABLE,
          later.get(),
          Advice.step("evaluate the model as it is now, and type release package again"));
    }
  }

  /** Returns whether the model is the final checkpoint of the run, which the evaluation judged. */
  private static boolean isOwn(
      ModelSource model, RunId run, PlanFile plan, ManifestFile manifest, OptionalInt task) {
    try {
      return FindCheckpoint.of(run, plan, manifest, task).toRealPath().equals(model.root());
    } catch (NexaException | IOException none) {
      return false;
    }
  }

  private static void requireNoJudgementNamed(Choices choices, ModelSource model, RunId run) {
    Optional<RunId> named = choices.gate().or(choices::evaluation);
    if (named.isPresent()) {
      throw new NexaException(
          ErrorCode.RUN_NOT_SUITABLE,
          named.get() + " has not judged " + model.root() + ", which --checkpoint names",
          Advice.step("leave out --checkpoint to package the final checkpoint of " + run),
          Advice.step("or evaluate that folder: model_name: " + model.root()));
    }
  }

  private static ManifestFile completed(RunFolder run) {
    if (!Files.exists(run.manifest()) || !Files.exists(run.plan())) {
      throw unsettled(run);
    }
    ManifestFile manifest = ManifestFile.read(run);
    if (manifest.status() == RunStatus.FAILED) {
      throw new NexaException(
          ErrorCode.RUN_NOT_SUITABLE,
          run.id() + " is " + manifest.state() + ": only a completed run can be packaged",
          Advice.command("says why it failed", "nexa-slurm", "why", run.id()));
    }
    if (manifest.status() != RunStatus.COMPLETED || manifest.ended().isEmpty()) {
      throw unsettled(run);
    }
    return manifest;
  }

  private static NexaException unsettled(RunFolder run) {
    return new NexaException(
        ErrorCode.RUN_NOT_SETTLED,
        run.id() + " has not ended: only a completed run can be packaged",
        Advice.command("shows how far it is", "nexa-slurm", "status", run.id()));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns all registered datasets that the model was made of, also through other runs. */
  private static List<ReleaseFile.Dataset> datasets(LineageGraph lineage, RunId run) {
    TreeMap<String, ReleaseFile.Dataset> datasets = new TreeMap<>(ReleaseContent.ORDER);
    Optional<LineageNode> node = lineage.node(Kind.RUN, run.value());
    if (node.isPresent()) {
      for (LineageNode one : lineage.around(node.get(), true, false).nodes()) {
        if (one.kind() == Kind.DATASET) {
          datasets.put(
              one.name(),
              new ReleaseFile.Dataset(
                  one.name(),
                  one.facts().optionalText("root").orElse(ReleaseFile.UNKNOWN),
                  one.facts().optionalText("licence")));
        }
      }
    }
    return List.copyOf(datasets.values());
  }

  private static List<String> parents(LineageGraph lineage, RunId run) {
    return lineage.node(Kind.RUN, run.value()).map(lineage::madeOf).orElse(List.of()).stream()
        .filter(node -> node.kind() == Kind.RUN)
        .map(LineageNode::name)
        .sorted()
        .toList();
  }

  private static Optional<String> pipeline(Workspace workspace, RunId run) {
    return workspace.allPipelines().stream()
        .filter(pipeline -> owns(pipeline, run))
        .map(PipelineFolder::id)
        .findFirst();
  }

  private static boolean owns(PipelineFolder pipeline, RunId run) {
    try {
      return PipelineFile.read(pipeline).ownRuns().contains(run);
    } catch (NexaException | UncheckedIOException | IllegalArgumentException broken) {
      // The commands about pipelines report a broken one.
      return false;
    }
  }

  /** Returns the sum of the sizes of all files, in bytes. */
  public long bytes() {
    long bytes = written.values().stream().mapToLong(content -> content.length).sum();
    for (Path file : model.files().values()) {
      bytes += file.toFile().length();
    }
    return bytes;
  }

  /** Returns the paths of all files of the release but the document, in order. */
  public List<String> paths() {
    List<String> paths = new ArrayList<>(model.files().keySet());
    paths.addAll(written.keySet());
    paths.sort(ReleaseContent.ORDER);
    return paths;
  }
}
