package dev.nexa.slurm.data.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.RecordedProgress;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.job.config.steps.DataStage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A folder in which {@code data prepare} runs, and what it wrote. */
final class PrepareBench {
  final Path folder;
  final Path out;

  PrepareBench(Path folder) {
    this.folder = folder;
    this.out = folder.resolve("out");
  }

  Path file(String name, String content) throws IOException {
    return file(name, content.getBytes(StandardCharsets.UTF_8));
  }

  Path file(String name, byte[] content) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.write(file, content);
  }

  Engine engine() {
    return Engine.open(new Limits(2048L << 20, 2, folder.resolve("scratch")));
  }

  /** Runs one task on all files of {@code in/}. */
  JsonObject run(String settings, int task, int tasks, List<String> against) {
    return run(settings, task, tasks, against, List.of(), out);
  }

  JsonObject run(
      String settings,
      int task,
      int tasks,
      List<String> against,
      List<String> clusters,
      Path output) {
    return run(settings, task, tasks, against, clusters, List.of(), output);
  }

  JsonObject run(
      String settings,
      int task,
      int tasks,
      List<String> against,
      List<String> clusters,
      List<String> parts,
      Path output) {
    try (Engine engine = engine()) {
      Share share = tasks == 1 ? Share.ALL : new Share(task, tasks);
      return new Prepare(
              engine,
              PrepareSettings.of(DataStage.withDefaults("prepare", Json.parseObject(settings))),
              share,
              progress)
          .run(List.of(folder.resolve("in").toString()), against, clusters, parts, output);
    }
  }

  /** Prepares in one task that reads few bytes at a time. */
  void pieces(String settings, List<String> against, long pieceBytes) {
    try (Engine engine = engine()) {
      PrepareSettings read =
          PrepareSettings.of(DataStage.withDefaults("prepare", Json.parseObject(settings)));
      new Prepare(
              engine,
              read,
              Share.ALL,
              progress,
              new RawRows(engine, read, Share.ALL, progress, pieceBytes))
          .run(List.of(folder.resolve("in").toString()), against, List.of(), List.of(), out);
    }
  }

  final RecordedProgress progress = new RecordedProgress();

  JsonObject run(String settings) {
    return run(settings, 0, 1, List.of());
  }

  /** Returns a column of the files of a split, in the order of their names and rows. */
  List<String> column(String split, String column) throws IOException {
    List<String> values = new ArrayList<>();
    try (Engine engine = engine()) {
      for (Path file : files(split + "-")) {
        values.addAll(engine.column("SELECT " + column + " FROM '" + file + "'"));
      }
    }
    return values;
  }

  /** Returns {@code file name, row, line, reason, detail} of all rejects. */
  List<List<String>> rejects() throws IOException {
    List<List<String>> rows = new ArrayList<>();
    try (Engine engine = engine()) {
      for (Path file : files("rejects-")) {
        rows.addAll(
            engine.rows(
                "SELECT parse_filename(file), row, line, reason, detail FROM '" + file + "'"));
      }
    }
    return rows;
  }

  List<Path> files(String start) throws IOException {
    try (var all = Files.list(out)) {
      return all.filter(file -> file.getFileName().toString().startsWith(start)).sorted().toList();
    }
  }

  /**
   * Returns all that the tasks wrote: the rows of each split in the order of the files, the bytes
   * of all request files put together, and the rejects in the order of their files and rows.
   */
  List<Object> union() throws IOException {
    List<Object> all = new ArrayList<>();
    all.add(column("train", "id || ' ' || text"));
    all.add(column("test", "id || ' ' || text"));
    StringBuilder requests = new StringBuilder();
    for (Path file : files("requests-")) {
      requests.append(Files.readString(file, StandardCharsets.UTF_8));
    }
    all.add(requests.toString());
    try (Engine engine = engine()) {
      all.add(engine.rows("SELECT * FROM '" + out + "/rejects-*.parquet' ORDER BY file, row"));
    }
    return all;
  }

  /** Checks that the tasks wrote what {@link #union} returned before. */
  void same(List<Object> expected) throws IOException {
    List<Object> found = union();
    List<String> names = List.of("train", "test", "requests", "rejects");
    for (int i = 0; i < names.size(); i++) {
      assertThat(found.get(i)).as(names.get(i)).isEqualTo(expected.get(i));
    }
  }
}
