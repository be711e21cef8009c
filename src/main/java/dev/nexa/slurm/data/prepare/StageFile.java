package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.Output;
import dev.nexa.slurm.data.rows.TaskReport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A Parquet file from one stage of {@code prepare} for the next stage. Its metadata names the rows
 * that it was made from. So a missing or a foreign file is an error.
 *
 * @param path its path
 * @param kind the stage that wrote it
 * @param part names the file's part: {@code TASK TASKS} of parts and ids, {@code BAND TASK TASKS}
 *     of signatures, the bands of pairs, or nothing
 * @param rows the fingerprint of the rows of each task of {@code prepare}, in the order of the
 *     tasks. Signatures have only the fingerprint of the file's own task. {@link Parts} describes
 *     the value for parts and ids
 */
record StageFile(String path, Kind kind, List<Integer> part, List<String> rows) {
  /** The stages that write such files. */
  enum Kind {
    PARTS("parts", "data.prepare with parts: true"),
    IDS("ids", "data.prepare with parts: true"),
    SIGNATURES("signatures", "data.prepare with signatures: true"),
    PAIRS("pairs", "data.buckets"),
    DUPLICATES("duplicates", "data.clusters");

    private final String stem;
    private final String writer;

    Kind(String stem, String writer) {
      this.stem = stem;
      this.writer = writer;
    }

    /** Returns the first part of the files' names. */
    String stem() {
      return stem;
    }

    /** Returns the stage's name in a config. */
    String writer() {
      return writer;
    }

    /** Returns the place on the page that explains the stage. */
    String page() {
      return this == PARTS || this == IDS
          ? "`nexa-slurm explain docs/data.md#divide-the-reading`"
          : PAGE;
    }
  }

  /** The place on the page that explains the stages. */
  static final String PAGE = "`nexa-slurm explain docs/data.md#near-duplicates-in-an-array`";

  /** Returns the options of COPY that write the metadata. */
  static String options(Kind kind, List<Integer> part, List<String> rows) {
    String numbers = part.stream().map(String::valueOf).collect(Collectors.joining(" "));
    return Output.PARQUET
        + (", KV_METADATA {nexa_kind: " + Sql.text(kind.stem()))
        + (", nexa_part: " + Sql.text(numbers))
        + (", nexa_rows: " + Sql.text(String.join(" ", rows)) + "}");
  }

  /**
   * Returns the files of a stage, ordered by path. Other files are left out.
   *
   * @throws NexaException if there is none
   */
  static List<StageFile> find(Engine engine, List<String> input, Kind kind) {
    Map<String, Map<String, String>> metadata = new TreeMap<>();
    List<String> paths =
        InputFile.find(engine, input).stream()
            .filter(file -> file.format() == InputFile.Format.PARQUET)
            .map(InputFile::path)
            .toList();
    if (!paths.isEmpty()) {
      String query =
          "SELECT file_name, decode(key), decode(value) FROM parquet_kv_metadata("
              + Sql.texts(paths)
              + ") WHERE decode(key) LIKE 'nexa_%'";
      for (List<String> row : engine.rows(query)) {
        metadata
            .computeIfAbsent(row.get(0), path -> new LinkedHashMap<>())
            .put(row.get(1), row.get(2));
      }
    }
    List<StageFile> files = new ArrayList<>();
    metadata.forEach(
        (path, values) -> {
          if (kind.stem().equals(values.get("nexa_kind"))) {
            List<Integer> part =
                words(values.getOrDefault("nexa_part", "")).stream().map(Integer::valueOf).toList();
            files.add(new StageFile(path, kind, part, words(values.getOrDefault("nexa_rows", ""))));
          }
        });
    if (files.isEmpty()) {
      throw invalid(
          kind,
          "there are no " + kind.stem() + " in " + String.join(", ", input),
          "name the output of the stage with " + kind.writer());
    }
    return files;
  }

  private static List<String> words(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(" "));
  }

  /** Returns the relation with the rows of files. */
  static String relation(List<StageFile> files) {
    return "read_parquet(" + Sql.texts(files.stream().map(StageFile::path).toList()) + ")";
  }

  /** Returns the error about files of completed tasks. Its advice says how to write them again. */
  static NexaException missing(Kind kind, String message, Path output, String tasks) {
    List<Advice> advice = new ArrayList<>(TaskReport.again(output, tasks));
    advice.add(Advice.step("see " + kind.page()));
    return ErrorCode.DATA_INVALID.error(message, advice);
  }

  static NexaException invalid(String message, String step) {
    return invalid(Kind.SIGNATURES, message, step);
  }

  /** Returns the error about a stage's files, with the page that explains them. */
  static NexaException invalid(Kind kind, String message, String step) {
    return ErrorCode.DATA_INVALID.error(message, step, "see " + kind.page());
  }
}
