package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Raw files in a workspace, a config that prepares them, and the rows of a run's output. */
final class DataRuns {
  private DataRuns() {}

  /** Writes 200 rows with 20 duplicates, 1 broken line and 1 row of another schema. */
  static String config(Path workspace, int shards) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      lines.append(
          Json.compact(new JsonObject().with("id", i).with("text", "It's text " + i % 180)));
      lines.append('\n');
    }
    lines.append("{\"id\":\n{\"id\":\"x\",\"text\":\"y\"}\n");
    Path raw = workspace.resolve("raw files/ü.jsonl");
    Files.createDirectories(raw.getParent());
    Files.writeString(raw, lines);
    Path config = workspace.resolve("prepare.yaml");
    Files.writeString(
        config,
        """
        stage: data
        backend: data
        data:
          prepare:
            input: ["${workspace}/raw files/*.jsonl"]
            columns: {id: integer, text: text}
            text: [text]
            split: {train: 0.8, test: 0.2}
        resources: {time: 5m, memory: 1G, cpus_per_task: 1}
        array: {shards: %d}
        """
            .formatted(shards));
    return config.toString();
  }

  /** Returns a column of all files of the folder whose name begins so, in their order. */
  static List<String> column(Path folder, String start, String column) throws IOException {
    List<String> values = new ArrayList<>();
    try (Engine engine = Engine.open(new Limits(512L << 20, 1, folder.resolveSibling("scratch")));
        var files = Files.list(folder)) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        if (name.startsWith(start) && name.endsWith(".parquet")) {
          values.addAll(engine.column("SELECT " + column + " FROM '" + file + "'"));
        }
      }
    }
    return values;
  }
}
