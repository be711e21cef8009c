package dev.nexa.slurm.storage.lineage;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.lineage.LineageNode.Kind;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Collects what runs and datasets were made from. It reads plans, manifests and pipelines of a
 * workspace, and the registry of datasets.
 */
public final class CollectLineage {
  private final Workspace workspace;
  private final Storage tiers;
  private final List<DatasetVersion> versions = new ArrayList<>();
  private final Map<String, List<DatasetVersion>> byPath = new HashMap<>();
  private final Map<RunId, String> pipelines = new HashMap<>();
  private final Map<String, Reader> byFolder = new HashMap<>();
  private final List<String> problems = new ArrayList<>();

  /**
   * A run and what it reads.
   *
   * @param paths the paths and names that its plan holds
   * @param checked the versions that its plan names
   * @param earlier the runs that it was given as inputs
   */
  private record Reader(
      LineageNode node,
      Instant created,
      List<String> paths,
      List<String> checked,
      List<RunId> earlier) {}

  /**
   * Prepares the collection.
   *
   * @param registered the versions of the registry
   * @param tiers the tiers that hold the registry
   */
  public CollectLineage(Workspace workspace, Iterable<DatasetVersion> registered, Storage tiers) {
    this.workspace = workspace;
    this.tiers = tiers;
    for (DatasetVersion version : registered) {
      versions.add(version);
      byPath.computeIfAbsent(version.path(tiers), path -> new ArrayList<>()).add(version);
    }
  }

  /** Returns a line for each file that could not be read. */
  public List<String> problems() {
    return problems;
  }

  /** Returns the graph of the whole workspace. Files that cannot be read are left out. */
  public LineageGraph collect() {
    for (PipelineFolder pipeline : workspace.allPipelines()) {
      try {
        PipelineFile file = whole(pipeline.document(), () -> PipelineFile.read(pipeline));
        file.ownRuns().forEach(run -> pipelines.put(run, pipeline.id()));
      } catch (NexaException | UncheckedIOException | IllegalArgumentException broken) {
        problems.add(String.valueOf(broken.getMessage()));
      }
    }
    List<Reader> runs = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      try {
        runs.add(reader(workspace.run(id)));
      } catch (NexaException | UncheckedIOException | IllegalArgumentException broken) {
        problems.add(String.valueOf(broken.getMessage()));
      }
    }
    LineageGraph graph = new LineageGraph();
    versions.forEach(version -> graph.add(node(version)));
    runs.forEach(run -> graph.add(run.node()));
    versions.forEach(version -> origin(version, graph));
    runs.forEach(run -> inputs(run, graph));
    return graph;
  }

  /** Reads a record, and names its file if it is damaged: a reader of JSON knows only a text. */
  private static <T> T whole(Path file, Supplier<T> read) {
    try {
      return read.get();
    } catch (IllegalArgumentException damaged) {
      throw new IllegalArgumentException(
          file
              + " is damaged and was left out; restore it from a backup; read `nexa-slurm explain docs/recovery.md`",
          damaged);
    }
  }

  private Reader reader(RunFolder run) {
    Optional<ManifestFile> manifest =
        Files.exists(run.manifest())
            ? Optional.of(whole(run.manifest(), () -> ManifestFile.read(run)))
            : Optional.empty();
    Optional<PlanFile> plan =
        Files.exists(run.plan())
            ? Optional.of(whole(run.plan(), run::shownPlan))
            : Optional.empty();
    JsonObject facts = new JsonObject();
    manifest.flatMap(ManifestFile::name).ifPresent(title -> facts.with("title", title));
    facts.with("status", manifest.map(it -> it.status().text()).orElse("running"));
    manifest.ifPresent(it -> facts.with("state", it.state()));
    facts.withOptional("pipeline", Optional.ofNullable(pipelines.get(run.id())));
    facts.withOptional("started", manifest.flatMap(ManifestFile::started));
    facts.withOptional("ended", manifest.flatMap(ManifestFile::ended));
    plan.ifPresent(it -> facts.with("path", output(it, run.id())));
    Reader reader =
        new Reader(
            new LineageNode(Kind.RUN, run.id().value(), facts),
            manifest.flatMap(ManifestFile::created).orElse(Instant.MAX),
            plan.map(PlanFile::readPaths).orElse(List.of()),
            plan.map(PlanFile::datasetVersions).orElse(List.of()),
            run.inputs().stream().map(input -> input.run()).toList());
    plan.ifPresent(
        it -> {
          byFolder.put(output(it, run.id()), reader);
          byFolder.put(it.storage().durable() + "/checkpoints/" + run.id(), reader);
        });
    return reader;
  }

  private static String output(PlanFile plan, RunId id) {
    return plan.storage().durable() + "/" + plan.outputs() + "/" + id;
  }

  private LineageNode node(DatasetVersion version) {
    JsonObject facts =
        new JsonObject()
            .with("status", version.status().word())
            .with("path", version.path(tiers))
            .with("root", version.root())
            .withOptional("rows", version.rows())
            .withOptional("licence", version.licence())
            .withOptional("source", version.source())
            .withOptional("schema", version.json().optionalObject("schema"));
    return new LineageNode(Kind.DATASET, version.reference(), facts);
  }

  /** Adds what a version was made of: its parents, and the run that wrote its files. */
  private void origin(DatasetVersion version, LineageGraph graph) {
    LineageNode made = node(version);
    for (String parent : version.parents()) {
      graph.add(new LineageNode(Kind.DATASET, parent, new JsonObject()), made);
    }
    version
        .run()
        .map(run -> new LineageNode(Kind.RUN, run, new JsonObject()))
        .or(() -> writer(version.path(tiers)))
        .ifPresent(writer -> graph.add(writer, made));
  }

  private void inputs(Reader run, LineageGraph graph) {
    Set<String> read = new LinkedHashSet<>();
    for (String reference : run.checked()) {
      read.add(reference.substring(0, reference.indexOf('@')));
      graph.add(new LineageNode(Kind.DATASET, reference, new JsonObject()), run.node());
    }
    for (RunId earlier : run.earlier()) {
      graph.add(new LineageNode(Kind.RUN, earlier.value(), new JsonObject()), run.node());
    }
    for (String written : run.paths()) {
      String path = written.replaceAll("/+", "/");
      Optional<DatasetVersion> version = registered(path, run.created());
      Optional<Reader> writer = above(path, byFolder);
      if (version.isPresent()) {
        if (!read.contains(version.get().name()) && !isChecked(path, run)) {
          graph.add(node(version.get()), run.node());
        }
      } else if (writer.isPresent()) {
        graph.add(writer.get().node(), run.node());
      } else if (path.startsWith("/")) {
        graph.add(new LineageNode(Kind.PATH, path, new JsonObject()), run.node());
      } else if (!path.contains("${")) {
        graph.add(new LineageNode(Kind.MODEL, path, new JsonObject()), run.node());
      }
    }
  }

  /** Returns whether the plan names a version at the path, whatever name the dataset has. */
  private boolean isChecked(String path, Reader run) {
    return above(path, byPath).orElse(List.of()).stream()
        .anyMatch(version -> run.checked().contains(version.reference()));
  }

  /**
   * Returns the newest version at the path that was registered before the run was made. If several
   * names have the same bytes there, it is the promoted one, as for the policy; among equals, the
   * oldest.
   */
  private Optional<DatasetVersion> registered(String path, Instant created) {
    List<DatasetVersion> at = above(path, byPath).orElse(List.of());
    Optional<DatasetVersion> known =
        at.stream()
            .filter(version -> !registeredAt(version).isAfter(created))
            .reduce((before, last) -> last);
    Optional<String> root = known.or(() -> at.stream().findFirst()).map(DatasetVersion::root);
    return at.stream()
        .filter(version -> root.equals(Optional.of(version.root())))
        .filter(version -> known.isEmpty() || !registeredAt(version).isAfter(created))
        .max(
            Comparator.comparing((DatasetVersion version) -> rank(version.status()))
                .thenComparing(CollectLineage::registeredAt, Comparator.reverseOrder()));
  }

  private static int rank(DatasetVersion.Status status) {
    return switch (status) {
      case RETIRED -> 0;
      case REGISTERED -> 1;
      case PROMOTED -> 2;
    };
  }

  private static Instant registeredAt(DatasetVersion version) {
    try {
      return version.statement("registered", "at").map(Instant::parse).orElse(Instant.MIN);
    } catch (DateTimeException broken) {
      return Instant.MIN;
    }
  }

  /** Returns the value of the path, or of the nearest folder above it that has one. */
  private static <T> Optional<T> above(String path, Map<String, T> values) {
    String at = path.replaceAll("/+$", "");
    while (at.length() > 1 && !values.containsKey(at)) {
      at = at.substring(0, Math.max(0, at.lastIndexOf('/')));
    }
    return at.length() > 1 ? Optional.ofNullable(values.get(at)) : Optional.empty();
  }

  /**
   * Returns the run that wrote a path, as this workspace knows it.
   *
   * @param path an absolute path on this machine's tiers
   */
  public Optional<LineageNode> writer(String path) {
    return above(path, byFolder).map(Reader::node);
  }

  /** Returns the versions that a run reads, as {@code name@version}, by the collected graph. */
  public static List<String> datasetsOf(LineageGraph graph, LineageNode run) {
    return graph.madeOf(run).stream()
        .filter(node -> node.kind() == Kind.DATASET)
        .map(LineageNode::name)
        .toList();
  }
}
