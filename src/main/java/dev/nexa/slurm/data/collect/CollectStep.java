package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.RowFile;
import dev.nexa.slurm.data.rows.TaskReport;
import java.nio.file.Path;
import java.util.List;

/** The step {@code collect}: a batch's answers become {@code generated.parquet}. */
public final class CollectStep {
  /** The file of the rows. */
  public static final String GENERATED = "generated.parquet";

  private CollectStep() {}

  /** Reads the options from the settings, which have all defaults. */
  public static Collect.Options options(JsonObject settings) {
    String truncated = settings.text("truncated");
    if (!List.of("keep", "reject").contains(truncated)) {
      throw new IllegalArgumentException(
          "expected keep or reject under \"truncated\", not " + truncated);
    }
    return new Collect.Options(
        truncated.equals("keep"), settings.decimal("max_lost").doubleValue());
  }

  /** Matches the files, and writes the rows and the files beside them. Makes the folder. */
  public static Collect.Result run(
      Engine engine,
      List<String> requests,
      List<String> answers,
      Path folder,
      Collect.Options options) {
    DurableFiles.onDisk().directories(folder);
    Path lines = folder.resolve(".generated.jsonl.tmp");
    List<Path> asked = BatchFiles.find(engine, "requests", requests);
    List<Path> came = BatchFiles.find(engine, "answers", answers);
    Collect.Result result = Collect.run(asked, came, lines, folder, options);
    RowFile.toParquet(
        engine, lines, CollectedRow.columns(), result.longest(), folder.resolve(GENERATED));
    TaskReport.write(folder, 0, result.metrics(), List.of(GENERATED));
    return result;
  }
}
