package dev.nexa.slurm.data.rows;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A file that a stage reads.
 *
 * @param path its path
 * @param format its format, by its name
 */
public record InputFile(String path, Format format) {
  /** The formats. */
  public enum Format {
    /** One JSON object on each line. */
    JSONL(".*\\.(jsonl|ndjson)(\\.gz|\\.zst)?"),
    CSV(".*\\.csv(\\.gz|\\.zst)?"),
    PARQUET(".*\\.parquet");

    private final Pattern names;

    Format(String names) {
      this.names = Pattern.compile(names);
    }

    /** Returns the format that a name says; empty if it says none. */
    private static Optional<Format> of(String name) {
      return Arrays.stream(values()).filter(it -> it.names.matcher(name).matches()).findFirst();
    }
  }

  private static final String ENDS =
      "a file ends in .jsonl, .ndjson, .csv (also .gz, .zst) or .parquet";

  /** Names of files that our own stages write beside their rows. */
  private static final Pattern BESIDE =
      Pattern.compile(
          "(rejects-|report-|requests-|conversations-|judge-requests-|[._]).*|(.*[.])?(rejects|ignored|missing|failed)[.]jsonl");

  /** Characters that DuckDB takes for a pattern. */
  private static final Pattern GLOB = Pattern.compile(".*[*?\\[\\]].*");

  /**
   * Returns the files that the patterns name, each once, ordered by path. A folder stands for its
   * files of a known format. Rejects, reports, requests and conversations are left out.
   *
   * @throws NexaException if a pattern names no file, or a file has another format
   */
  public static List<InputFile> find(Engine engine, List<String> patterns) {
    TreeSet<String> paths = new TreeSet<>();
    for (String pattern : patterns) {
      List<String> found = paths(engine, pattern, "*", InputFile::isData);
      if (found.isEmpty()) {
        throw ErrorCode.DATA_INVALID.error("there is no data file " + pattern, ENDS);
      }
      TaskReport.require(pattern, found, InputFile::isData);
      paths.addAll(found);
    }
    return paths.stream().map(path -> new InputFile(path, format(path))).toList();
  }

  /**
   * Returns the paths of the files that a pattern names, in order; none if there are none.
   *
   * @param below the names that a folder stands for, as a pattern
   * @param isMeant whether a folder stands for a file of that name
   */
  public static List<String> paths(
      Engine engine, String pattern, String below, Predicate<String> isMeant) {
    if (Files.isRegularFile(Path.of(pattern))) {
      return List.of(pattern);
    }
    boolean folder = Files.isDirectory(Path.of(pattern));
    String glob = folder ? pattern.replaceFirst("/+$", "") + "/" + below : pattern;
    List<String> found = engine.column("SELECT file FROM glob(" + Sql.text(glob) + ") ORDER BY 1");
    return folder ? found.stream().filter(isMeant).toList() : found;
  }

  /** Returns whether the name says a known format, and DuckDB does not take it for a pattern. */
  static boolean isReadable(String path) {
    return isData(path) && !GLOB.matcher(path).matches();
  }

  private static boolean isData(String path) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    return !BESIDE.matcher(name).matches() && Format.of(name).isPresent();
  }

  static Format format(String path) {
    if (GLOB.matcher(path).matches()) {
      throw ErrorCode.DATA_INVALID.error(
          path + ": a name with '*', '?', '[' or ']' would be read as a pattern",
          "rename the file");
    }
    return Format.of(path.toLowerCase(Locale.ROOT))
        .orElseThrow(
            () -> ErrorCode.DATA_INVALID.error(path + ": the name says no known format", ENDS));
  }
}
