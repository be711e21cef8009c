package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.documents.FinalManifest;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.signatures.GuardedPath;
import dev.nexa.slurm.storage.cleanup.Checkpoints;
import dev.nexa.slurm.storage.datasets.Registry;
import dev.nexa.slurm.storage.lineage.CollectLineage;
import dev.nexa.slurm.storage.lineage.LineageGraph;
import dev.nexa.slurm.storage.lineage.LineageNode;
import dev.nexa.slurm.storage.lineage.LineageNode.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

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
  static final String MANIFEST = "manifest.json";
  private static final String COST = "cost.json";
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /**
   * The user's choices; the values of empty choices are found.
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
    return of(workspace, run, task, choices, lineage, Optional.empty(), false);
  }

  /**
   * Collects a release that exists once more, from the records of its run.
   *
   * @param isGone whether the files of the release stand for the checkpoint, which is not there
   * @throws NexaException if the records do not give such a release
   */
  static ReleaseDraft again(
      Workspace workspace,
      RunFolder run,
      ReleaseFolder folder,
      LineageGraph lineage,
      boolean isGone) {
    ReleaseFile there = folder.document();
    Optional<String> name = Optional.of(there.origin().release());
    Optional<Path> checkpoint = there.origin().checkpoint().map(Path::of);
    Optional<RunId> evaluation = there.evaluation().flatMap(it -> RunId.parse(it.run()));
    Optional<RunId> gate = there.gate().flatMap(it -> RunId.parse(it.run()));
    Optional<String> licence = Optional.of(there.licence());
    Choices choices = new Choices(name, checkpoint, evaluation, gate, licence);
    return of(workspace, run, OptionalInt.empty(), choices, lineage, Optional.of(folder), isGone);
  }

  /** Returns whether the checkpoint behind a release is missing or unreadable. */
  static boolean isGone(RunFolder run, PlanFile plan, ReleaseFile there) {
    Optional<String> named = there.origin().checkpoint();
    try {
      return !Files.isReadable(
          named.isPresent()
              ? Path.of(named.get())
              : FindCheckpoint.of(run.id(), plan, ManifestFile.read(run), OptionalInt.empty()));
    } catch (NexaException none) {
      return plan.tasks() == 1;
    }
  }

  /**
   * Returns the bytes of a record; empty if there is none. Records are written again after a
   * release, because a cost is corrected or a remediation added. The journal holds the digest of
   * each version, so the version in a release is a record, too.
   */
  private static Optional<byte[]> record(
      RunFolder run, String name, Path newest, Optional<ReleaseFolder> there) {
    Path file = newest;
    Optional<String> digest =
        there.map(ReleaseFolder::document).stream()
            .flatMap(document -> document.files().stream())
            .filter(listed -> listed.path().equals(name))
            .map(ReleaseFile.Entry::sha256)
            .findFirst();
    if (digest.isPresent()) {
      String key = name.replace(".json", "_sha256");
      boolean earlier =
          run.journal().read().stream()
              .anyMatch(event -> event.data().optionalText(key).equals(digest));
      file = earlier ? there.orElseThrow().path().resolve(name) : newest;
    }
    return Files.exists(file) ? Optional.of(DurableFiles.readBytes(file)) : Optional.empty();
  }

  /** Returns the graph of runs and registered datasets that drafts are made from. */
  public static LineageGraph lineage(Workspace workspace, Storage tiers) {
    List<DatasetVersion> versions = new ArrayList<>();
    new Registry(tiers, workspace.files(), PATIENCE).read().values().forEach(versions::addAll);
    return new CollectLineage(workspace, versions, tiers).collect();
  }

  private static ReleaseDraft of(
      Workspace workspace,
      RunFolder run,
      OptionalInt task,
      Choices choices,
      LineageGraph lineage,
      Optional<ReleaseFolder> there,
      boolean isGone) {
    requireCompleted(run);
    byte[] record = record(run, MANIFEST, run.manifest(), there).orElseThrow(() -> unsettled(run));
    ManifestFile manifest =
        ManifestFile.parse(new String(record, StandardCharsets.UTF_8), run.manifest().toString());
    PlanFile plan = ProvenFiles.of(run).plan();
    Path checkpoint =
        there
            .filter(folder -> isGone)
            .map(ReleaseFolder::model)
            .or(choices::checkpoint)
            .orElseGet(() -> FindCheckpoint.of(run.id(), plan, manifest, task));
    ModelSource model = ModelSource.read(checkpoint);
    FindJudgement judgement = new FindJudgement(workspace, run.id());
    Optional<FindJudgement.Found> evaluation =
        choices.evaluation().map(judgement::evaluation).or(judgement::evaluation);
    Optional<FindJudgement.Found> gate = choices.gate().map(judgement::gate).or(judgement::gate);
    Path root = isGone ? choices.checkpoint().orElse(model.root()) : model.root();
    boolean other =
        choices.checkpoint().isPresent()
            && !isOwn(root, run.id(), plan, manifest, task, there.isPresent());
    if (other && evaluation.filter(one -> judgement.inputs().reads(one.run(), root)).isEmpty()) {
      requireNoJudgementNamed(choices, model, run.id());
      evaluation = Optional.empty();
      gate = Optional.empty();
    }
    List<String> notes = new ArrayList<>();
    if (evaluation.isPresent() && !isGone) {
      Optional<String> later = later(judgement, evaluation.get(), checkpoint, model);
      requireNotNamed(choices.evaluation(), later);
      evaluation = later.isEmpty() ? evaluation : Optional.empty();
      later.ifPresent(notes::add);
    }
    if (gate.isPresent() && !isGone) {
      Optional<String> later =
          judgement
              .judged(gate.get())
              .flatMap(judged -> later(judgement, judged, checkpoint, model));
      requireNotNamed(choices.gate(), later);
      gate = later.isEmpty() ? gate : Optional.empty();
      later.filter(why -> !notes.contains(why)).ifPresent(notes::add);
    }
    TreeMap<String, byte[]> written = new TreeMap<>(NamesOfFiles.ORDER);
    // JSON is YAML too, and the plan is the config with everything resolved.
    written.put("config.yaml", bytes(Json.pretty(plan.json())));
    written.put(MANIFEST, record);
    record(run, COST, run.cost(), there).ifPresent(it -> written.put(COST, it));
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
                manifest.json().optionalText("config_digest").orElse(ReleaseFile.UNKNOWN),
                other || task.isPresent() || (there.isPresent() && choices.checkpoint().isPresent())
                    ? Optional.of(root.toString())
                    : Optional.empty()),
            new ReleaseFile.Model(
                plan.stage(),
                plan.backend(),
                model.adapter() ? model.base().or(plan::model) : plan.model().or(model::base),
                model.modelClass(),
                model.adapter()),
            datasets(lineage, run.id()),
            parents(lineage, run.id()),
            lineage
                .node(Kind.RUN, run.id().value())
                .flatMap(node -> node.facts().optionalText("pipeline")),
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
                        ReleaseFile.Gate.Verdict.of(it.passed()),
                        GATE,
                        it.metrics(),
                        judgement.failedBefore(it))),
            choices.licence().orElse(ReleaseFile.UNKNOWN),
            model.pickles(),
            List.of());
    written.put("README.md", bytes(ModelCard.text(facts, manifest)));
    return new ReleaseDraft(facts, model, written, List.copyOf(notes));
  }

  /** Returns why an evaluation is not of the current model; empty if it is. */
  private static Optional<String> later(
      FindJudgement judgement, FindJudgement.Found evaluation, Path checkpoint, ModelSource model) {
    return WrittenLater.of(checkpoint, model, evaluation.run(), judgement.inputs())
        .map(what -> what + ": neither this evaluation nor its gate counts");
  }

  private static void requireNotNamed(Optional<RunId> named, Optional<String> later) {
    if (named.isPresent() && later.isPresent()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          later.get(), "evaluate the model as it is now, and type release package again");
    }
  }

  /**
   * Returns whether the model is the final checkpoint of the run, which the evaluation judged.
   *
   * @param anyTask whether it may be the checkpoint of any task
   */
  private static boolean isOwn(
      Path model,
      RunId run,
      PlanFile plan,
      ManifestFile manifest,
      OptionalInt task,
      boolean anyTask) {
    if (anyTask && task.isEmpty() && plan.tasks() > 1) {
      return IntStream.range(0, plan.tasks())
          .anyMatch(i -> isOwn(model, run, plan, manifest, OptionalInt.of(i), false));
    }
    try {
      return FindCheckpoint.of(run, plan, manifest, task).toRealPath().equals(model);
    } catch (NexaException | IOException none) {
      return false;
    }
  }

  private static void requireNoJudgementNamed(Choices choices, ModelSource model, RunId run) {
    Optional<RunId> named = choices.gate().or(choices::evaluation);
    if (named.isPresent()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          named.get() + " has not judged " + model.root() + ", which --checkpoint names",
          "leave out --checkpoint to package the final checkpoint of " + run,
          "or evaluate that folder: model_name: " + model.root());
    }
  }

  private static void requireCompleted(RunFolder run) {
    if (!Files.exists(run.plan())) {
      throw unsettled(run);
    }
    ManifestFile manifest = FinalManifest.of(run).orElseThrow(() -> unsettled(run));
    if (manifest.status() == RunStatus.FAILED) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          run.id() + " is " + manifest.state() + ": only a completed run can be packaged",
          Advice.command("says why it failed", "nexa-slurm why", run.id()));
    }
    if (manifest.status() != RunStatus.COMPLETED || manifest.ended().isEmpty()) {
      throw unsettled(run);
    }
  }

  private static NexaException unsettled(RunFolder run) {
    return ErrorCode.RUN_NOT_SETTLED.error(
        run.id()
            + " is not settled: only a completed run can be packaged, and no pass of reconcile has"
            + " recorded that it completed",
        Advice.command("settles it, if it has ended", "nexa-slurm reconcile"),
        Advice.command("shows how far it is", "nexa-slurm status", run.id()));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns all registered datasets that the model was made of, also through other runs. */
  private static List<ReleaseFile.Dataset> datasets(LineageGraph lineage, RunId run) {
    return lineage.node(Kind.RUN, run.value()).stream()
        .flatMap(node -> lineage.around(node, true, false).nodes().stream())
        .filter(one -> one.kind() == Kind.DATASET)
        .sorted(Comparator.comparing(LineageNode::name, NamesOfFiles.ORDER))
        .map(
            one ->
                new ReleaseFile.Dataset(
                    one.name(),
                    one.facts().optionalText("root").orElse(ReleaseFile.UNKNOWN),
                    one.facts().optionalText("licence")))
        .toList();
  }

  private static List<String> parents(LineageGraph lineage, RunId run) {
    return lineage.node(Kind.RUN, run.value()).map(lineage::madeOf).orElse(List.of()).stream()
        .filter(node -> node.kind() == Kind.RUN)
        .map(LineageNode::name)
        .sorted()
        .toList();
  }

  /** Returns the sum of the sizes of all files, in bytes. */
  public long bytes() {
    return written.values().stream().mapToLong(content -> content.length).sum()
        + model.files().values().stream().mapToLong(file -> file.toFile().length()).sum();
  }

  /** Returns the paths of all files of the release but the document, in order. */
  public List<String> paths() {
    List<String> paths = new ArrayList<>(model.files().keySet());
    paths.addAll(written.keySet());
    paths.sort(NamesOfFiles.ORDER);
    return paths;
  }

  /**
   * Finds the final checkpoint of a run: the checkpoint that the run reported, or {@code final} in
   * its folder of checkpoints, or that folder itself if the model lies there beside earlier
   * checkpoints.
   */
  static final class FindCheckpoint {
    private static final String FINAL = "final";

    private FindCheckpoint() {}

    /**
     * Returns the final checkpoint of a run, or of one task.
     *
     * @param task the task; empty for a run with one task
     * @throws NexaException with {@link ErrorCode#MODEL_INVALID} if there is none, or if several
     *     could be it
     */
    static Path of(RunId run, PlanFile plan, ManifestFile manifest, OptionalInt task) {
      Path folder = Path.of(plan.storage().durable(), "checkpoints", run.value());
      Optional<String> reported = manifest.checkpoint();
      if (plan.tasks() > 1) {
        if (task.isEmpty()) {
          throw ErrorCode.MODEL_INVALID.error(
              run + " has " + plan.tasks() + " tasks, and each has a model of its own",
              "name one task as JOB_INDEX, such as 12345_0, or: --checkpoint DIR");
        }
        folder = folder.resolve("task_" + task.getAsInt());
        reported =
            manifest.points().stream()
                .filter(point -> point.task() == task.getAsInt())
                .findFirst()
                .flatMap(point -> text(point.metrics().members().get("checkpoint")));
      }
      Path at = reported.map(Path::of).orElse(folder);
      if (!Files.exists(at)) {
        throw ErrorCode.MODEL_INVALID.error(
            reported.isPresent()
                ? "the checkpoint that " + run + " reported does not exist: " + at
                : run + " reported no checkpoint, and its folder " + at + " does not exist",
            "name the model's folder: --checkpoint DIR");
      }
      return inside(at);
    }

    private static Optional<String> text(@Nullable Object value) {
      return value instanceof String text ? Optional.of(text) : Optional.empty();
    }

    /** A runner that reports nothing leaves its model below the folder of all checkpoints. */
    private static Path inside(Path at) {
      if (!Files.isDirectory(at)) {
        return at;
      }
      List<Path> entries = entries(at);
      for (Path entry : entries) {
        String name = entry.getFileName().toString();
        boolean isFinal = name.equals(FINAL) || name.startsWith(FINAL + ".");
        if (isFinal && (Files.isRegularFile(entry) || !entries(entry).isEmpty())) {
          return entry;
        }
      }
      boolean own = entries.stream().anyMatch(Files::isRegularFile);
      List<String> checkpoints =
          entries.stream()
              .map(entry -> entry.getFileName().toString())
              .filter(Checkpoints::isCheckpoint)
              .toList();
      if (!own && !checkpoints.isEmpty()) {
        throw ErrorCode.MODEL_INVALID.error(
            "%s holds the checkpoints %s and no final model"
                .formatted(at, String.join(", ", checkpoints.stream().limit(5).toList())),
            "choose one: --checkpoint " + at.resolve(checkpoints.get(0)));
      }
      return at;
    }

    private static List<Path> entries(Path folder) {
      return Files.isDirectory(folder) ? DurableFiles.list(folder, "*") : List.of();
    }
  }
}
