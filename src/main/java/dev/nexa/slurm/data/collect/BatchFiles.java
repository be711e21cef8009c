package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.TaskReport;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;

/** Finds the files of a batch. */
public final class BatchFiles {
  /** The files that our steps write beside a batch's lines. */
  private static final String BESIDE = "(?:.*[.])?(?:rejects|ignored|missing|failed)[.]jsonl";

  private BatchFiles() {}

  /**
   * Returns the files that the patterns name, each once, ordered by path. A folder stands for its
   * files {@code *.jsonl}, without those that our steps write beside a batch.
   *
   * @param what the files are for, such as {@code requests}
   * @throws NexaException if a pattern names no file
   */
  public static List<Path> find(Engine engine, String what, List<String> patterns) {
    TreeSet<String> paths = new TreeSet<>();
    for (String pattern : patterns) {
      List<String> found = InputFile.paths(engine, pattern, "*.jsonl", BatchFiles::isLines);
      if (found.isEmpty()) {
        throw ErrorCode.FILE_NOT_FOUND.error(
            "there is no file of " + what + ": " + pattern,
            "name a file, a pattern such as 'out/*.jsonl', or a folder of .jsonl files");
      }
      TaskReport.require(pattern, found, BatchFiles::isLines);
      paths.addAll(found);
    }
    return paths.stream().map(Path::of).toList();
  }

  private static boolean isLines(String path) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    return name.endsWith(".jsonl") && !name.matches(BESIDE);
  }
}
