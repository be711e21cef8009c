package dev.nexa.slurm.command.datasets;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonNesting;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.command.datasets.DatasetCommand.Datasets;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Lines;
import dev.nexa.slurm.data.rows.Shape;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.storage.bundle.Zstd;
import dev.nexa.slurm.storage.datasets.Registry;
import dev.nexa.slurm.storage.datasets.TierPath;
import dev.nexa.slurm.storage.datasets.VersionFiles.DatasetFile;
import dev.nexa.slurm.storage.datasets.VersionFiles.FileReading;
import dev.nexa.slurm.storage.lineage.CollectLineage;
import dev.nexa.slurm.storage.lineage.LineageGraph;
import dev.nexa.slurm.storage.lineage.LineageNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.StreamSupport;

/**
 * Registers a dataset: reads its files once, counts its rows, finds the run that made it.
 *
 * @param note receives remarks for the user
 */
record RegisterDataset(Datasets datasets, Progress progress, Consumer<String> note) {
  /** A registry holds at most so many columns of a version. */
  private static final int MOST_COLUMNS = 200;

  private static final int LONGEST_TYPE = 200;
  private static final long MEMORY = 2L << 30;
  private static final int THREADS = 4;

  /**
   * The facts that a person gives about a dataset.
   *
   * @param name its name; empty for the name of its file or folder
   * @param version the version; empty for the next one
   * @param parents versions that it was made of
   * @param rows whether to count its rows
   */
  record Told(
      Optional<String> name,
      Optional<String> version,
      Optional<String> source,
      Optional<String> licence,
      Optional<String> description,
      List<String> parents,
      Optional<String> run,
      boolean rows) {}

  Registry.Done register(String typed, Path here, Told told) {
    TierPath data = TierPath.of(typed, here, datasets.tiers());
    String name = told.name().orElseGet(() -> name(data.real()));
    Registry.requireName(name);
    told.version().ifPresent(RegisterDataset::requireVersion);
    Set<String> parents = new LinkedHashSet<>();
    told.parents().forEach(one -> parents.add(datasets.registry().find(one).reference()));
    JsonObject origin = origin(data, told, parents);
    try (Rows rows = new Rows(data, told.rows())) {
      return datasets
          .registry()
          .register(
              data, name, told.version(), () -> facts(told, origin, parents, rows), rows, progress);
    }
  }

  private static void requireVersion(String version) {
    if (!DatasetVersion.VERSION.matcher(version).matches()) {
      throw Subcommand.invalid("--as: expected a version such as v3, got '" + version + "'");
    }
  }

  /** Returns the name without its extension, as a config's default for {@code dataset}. */
  private static String name(Path path) {
    String last = String.valueOf(path.getFileName());
    int dot = last.lastIndexOf('.');
    return dot > 0 ? last.substring(0, dot) : last;
  }

  /** Finds the run and the pipeline that wrote the data, and adds what that run read. */
  private JsonObject origin(TierPath data, Told told, Set<String> parents) {
    JsonObject origin = new JsonObject();
    if (told.run().isEmpty() && !namesRun(data.real())) {
      return origin;
    }
    CollectLineage collect = datasets.lineage();
    LineageGraph graph = collect.collect();
    Optional<LineageNode> run =
        told.run().isPresent()
            ? Optional.of(
                graph
                    .node(LineageNode.Kind.RUN, run(told.run().get()))
                    .orElseThrow(IllegalStateException::new))
            : collect.writer(data.real().toString());
    run.ifPresent(made -> parents.addAll(CollectLineage.datasetsOf(graph, made)));
    return origin
        .withOptional("run", run.map(LineageNode::name))
        .withOptional("pipeline", run.flatMap(made -> made.facts().optionalText("pipeline")));
  }

  /** Returns whether a folder on the path has a run's id as its name, as each run's output has. */
  private static boolean namesRun(Path path) {
    return StreamSupport.stream(path.spliterator(), false)
        .anyMatch(name -> RunId.parse(name.toString()).isPresent());
  }

  private String run(String typed) {
    return new RunLookup(datasets.context().workspace()).find(typed).run().id().value();
  }

  private static JsonObject facts(Told told, JsonObject origin, Set<String> parents, Rows rows) {
    return rows.facts()
        .withOptional("licence", told.licence())
        .withOptional("source", told.source())
        .withOptional("description", told.description())
        .withUnlessEmpty("parents", List.copyOf(parents))
        .with(origin)
        .with("registered", now());
  }

  /** Returns the statement that this user does something now. */
  static JsonObject now() {
    return new JsonObject()
        .with("by", UnixUser.me().user())
        .with("at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
  }

  /** Counts rows in DuckDB, which is opened at the first file with a known format. */
  private final class Rows implements FileReading, AutoCloseable {
    private final TierPath data;
    private boolean wanted;
    private JsonNesting nesting = new JsonNesting(JsonNesting.DEEPEST);
    private boolean tooDeep;
    private Optional<Engine> engine = Optional.empty();
    private Optional<Shape> shape = Optional.empty();

    Rows(TierPath data, boolean wanted) {
      this.data = data;
      this.wanted = wanted;
    }

    @Override
    public void part(String path, byte[] bytes, int length) {
      if (wanted && Shape.isJsonLines(path)) {
        nesting.add(bytes, length);
      }
    }

    @Override
    public void done(DatasetFile file) {
      OptionalLong deep = nesting.found();
      nesting = new JsonNesting(JsonNesting.DEEPEST);
      if (!wanted) {
        return;
      }
      if (shape.isEmpty()) {
        try {
          engine = Optional.of(Engine.open(limits()));
          shape = Optional.of(new Shape(engine.get()));
        } catch (NexaException unusable) {
          note.accept("rows and columns are not read: " + unusable.getMessage());
          wanted = false;
          return;
        }
      }
      boolean folder = Files.isDirectory(data.real());
      Path path = folder ? data.real().resolve(file.path()) : data.real();
      if (deep.isEmpty() && Shape.isJsonLines(path.toString())) {
        deep = compressed(path);
      }
      if (deep.isEmpty()) {
        shape.get().add(path.toString());
      } else if (!tooDeep) {
        tooDeep = true;
        shape
            .get()
            .refuse(
                "%s:%s: expected at most %s levels of arrays and objects"
                    .formatted(path, deep.getAsLong(), JsonNesting.DEEPEST));
      }
    }

    /** Returns the line of a compressed file that is nested too deep; empty for a plain file. */
    private static OptionalLong compressed(Path file) {
      String name = file.toString();
      if (name.endsWith(".gz")) {
        return Lines.tooDeep(name);
      }
      if (!name.endsWith(".zst")) {
        return OptionalLong.empty();
      }
      try (InputStream in = Zstd.open(file)) {
        return Lines.tooDeep(in);
      } catch (IOException broken) {
        // DuckDB says what is wrong with the file.
        return OptionalLong.empty();
      }
    }

    JsonObject facts() {
      JsonObject facts = new JsonObject();
      if (shape.isEmpty()) {
        return facts;
      }
      Shape found = shape.get();
      try (Running counting = progress.begin(Phase.of("counting rows", "files"))) {
        found.finish();
        counting.done(found.read(), 0);
      }
      found.problems().forEach(one -> note.accept("rows are not counted: " + one));
      if (found.others() > 0) {
        note.accept(
            ("rows not read in %s%s: only Parquet, JSONL and CSV are read, without rejects"
                    + " and reports of our own stages")
                .formatted(found.others(), found.others() == 1 ? " file" : " files"));
      }
      if (found.read() > 0 && found.problems().isEmpty()) {
        facts.with("rows", found.rows()).with("schema", schema(found.columns()));
        if (found.columns().size() > MOST_COLUMNS) {
          facts.with("columns", (long) found.columns().size());
        }
      }
      return facts;
    }

    private JsonObject schema(Map<String, String> columns) {
      JsonObject schema = new JsonObject();
      columns.entrySet().stream()
          .limit(MOST_COLUMNS)
          .forEach(column -> schema.with(column.getKey(), shortened(column.getValue())));
      return schema;
    }

    private static String shortened(String type) {
      return type.length() > LONGEST_TYPE ? type.substring(0, LONGEST_TYPE) + "…" : type;
    }

    private Limits limits() {
      Limits most = Limits.of(datasets.context().environment());
      return new Limits(
          Math.min(MEMORY, most.memoryBytes()), Math.min(THREADS, most.threads()), most.scratch());
    }

    @Override
    public void close() {
      engine.ifPresent(Engine::close);
    }
  }
}
