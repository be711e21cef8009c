package dev.nexa.slurm.command.evals;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.StagedFile;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.engine.RowFile;
import dev.nexa.slurm.data.score.Leaderboard;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes {@code leaderboard_YYYYMMDD} as Parquet, CSV and JSON. */
record WriteLeaderboard(Path folder) {
  private static final long MEMORY_BYTES = 256L << 20;

  /** Writes the files and returns them. Makes the folder; replaces files of the same day. */
  List<Path> write(Leaderboard board, LocalDate day) {
    DurableFiles files = DurableFiles.onDisk();
    files.directories(folder);
    String stem = "leaderboard_" + DateTimeFormatter.BASIC_ISO_DATE.format(day);
    Path parquet = folder.resolve(stem + ".parquet");
    Path csv = folder.resolve(stem + ".csv");
    Path json = folder.resolve(stem + ".json");
    parquet(board, parquet, folder.resolve("." + stem + ".jsonl.tmp"));
    files.replace(csv, LeaderboardText.listing(board, false).csv());
    files.replace(json, Json.pretty(LeaderboardText.json(board, List.of())));
    return List.of(parquet, csv, json);
  }

  private static void parquet(Leaderboard board, Path parquet, Path lines) {
    try (StagedFile rows = new StagedFile(lines)) {
      for (JsonObject row : LeaderboardText.listing(board, false).json()) {
        rows.line(Json.compact(row));
      }
      rows.commit();
      Path scratch = Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
      try (Engine engine = Engine.open(new Limits(MEMORY_BYTES, 1, scratch))) {
        RowFile.toParquet(engine, lines, columns(board), rows.longest(), parquet);
      }
    }
  }

  private static Map<String, String> columns(Leaderboard board) {
    Map<String, String> columns = new LinkedHashMap<>();
    columns.put("rank", "INTEGER");
    List.of("run_id", "model", "judge").forEach(text -> columns.put(text, "VARCHAR"));
    for (String metric : board.metrics()) {
      columns.put(metric, "DOUBLE");
      if (metric.equals(board.sortedBy())) {
        columns.put(metric + "_lower", "DOUBLE");
        columns.put(metric + "_upper", "DOUBLE");
        columns.put("n", "BIGINT");
      }
    }
    columns.put("unscored", "BIGINT");
    columns.put("evaluated", "TIMESTAMP WITH TIME ZONE");
    return columns;
  }
}
