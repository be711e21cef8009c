package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.Output;
import dev.nexa.slurm.data.rows.Portion;
import dev.nexa.slurm.data.rows.Rows;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.rows.Source;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The files that {@code prepare} writes and reads when two array stages divide the reading. Each
 * task of the first stage reads its portion of the input, and writes its rows sorted by key. Each
 * task of the second stage reads the rows of its keys from the files of all tasks.
 *
 * <p>The metadata of each file has the digest of the settings, the digest of the names and sizes of
 * the input files, and for each portion {@code FILE:ROWS:LINES}. A task does not know how many rows
 * the earlier tasks read of a file that is divided. So it numbers rows and lines from the beginning
 * of its portion, and the second stage adds the rows and lines of the earlier portions.
 */
record Parts(Engine engine, PrepareSettings settings, Share share, Progress progress) {
  /** So many missing tasks are named. */
  private static final int NAMED = 10;

  /** Reads this task's portion of the files, and writes its rows and their ids. */
  JsonObject write(List<InputFile> files, Output output) {
    List<Long> sizes = Portion.sizes(files);
    List<RawRows.Counted> counted =
        new RawRows(engine, settings, Share.ALL, progress)
            .read(files, Portion.of(files, sizes, share));
    List<Integer> part = List.of(share.task(), share.tasks());
    List<String> words = new ArrayList<>(List.of(settings.digest(), digest(files, sizes)));
    counted.forEach(one -> words.add(one.file() + ":" + one.rows() + ":" + one.lines()));
    engine.run("SET preserve_insertion_order = true");
    if (settings.id().isPresent()) {
      output.write(
          "SELECT n, id FROM ids",
          share.fileName(StageFile.Kind.IDS.stem(), 0, "parquet"),
          StageFile.options(StageFile.Kind.IDS, part, words));
    }
    output.write(
        "SELECT d.n, d.key, d.reason, d.detail, x.line, x.start, "
            + Source.names(settings.columns().size())
            + " FROM data d LEFT JOIN rejects x ON x.n = d.n ORDER BY d.key, d.n",
        share.fileName(StageFile.Kind.PARTS.stem(), 0, "parquet"),
        StageFile.options(StageFile.Kind.PARTS, part, words));
    long read = counted.stream().mapToLong(RawRows.Counted::rows).sum();
    return output.report(new JsonObject().with("rows_read", read));
  }

  /** Returns the first parts of the names of the files. */
  static List<String> stems() {
    return List.of(StageFile.Kind.PARTS.stem(), StageFile.Kind.IDS.stem());
  }

  /**
   * Makes the tables of {@link RawRows} with the rows of this task's keys.
   *
   * @param input the raw files of the first stage
   * @param folders the output of the first stage
   * @throws NexaException if the files of a task are missing, if a task has several, or if they
   *     were made with other settings or of other input files
   */
  Rows read(List<InputFile> input, List<String> folders) {
    String files = digest(input, Portion.sizes(input));
    List<StageFile> parts = complete(StageFile.Kind.PARTS, folders, files);
    List<Shift> shifts = shifts(parts);
    Rows rows = new RawRows(engine, settings, share, progress).begin(input);
    for (int task = 0; task < parts.size(); task++) {
      Shift shift = shifts.get(task);
      String number = shift.moved("n", shift.rows());
      String own =
          " FROM " + StageFile.relation(List.of(parts.get(task))) + " WHERE " + share.owns("key");
      engine.run(
          "INSERT INTO data BY NAME SELECT %s AS n, key, reason, detail, %s%s"
              .formatted(number, Source.names(settings.columns().size()), own));
      engine.run(
          "INSERT INTO rejects SELECT %s, reason, detail, %s, start%s AND reason IS NOT NULL"
              .formatted(number, shift.moved("line", shift.lines()), own));
    }
    rows.keep();
    if (settings.id().isPresent()) {
      ids(complete(StageFile.Kind.IDS, folders, files), shifts);
    }
    return rows;
  }

  /** Reads the ids that this task's rows have, of the rows of all tasks. */
  private void ids(List<StageFile> files, List<Shift> shifts) {
    List<String> all = new ArrayList<>();
    for (int task = 0; task < files.size(); task++) {
      String number = shifts.get(task).moved("n", shifts.get(task).rows());
      String relation = StageFile.relation(List.of(files.get(task)));
      all.add("SELECT " + number + " AS n, id FROM " + relation);
    }
    engine.run("CREATE VIEW all_ids AS " + String.join(" UNION ALL ", all));
    engine.run(
        "INSERT INTO ids SELECT n, id FROM all_ids SEMI JOIN"
            + " (SELECT id FROM all_ids SEMI JOIN kept USING (n)) USING (id)");
    engine.run("DROP VIEW all_ids");
  }

  /** The offset of a task's row numbers in one file: earlier tasks read the file's first rows. */
  private record Shift(int file, long rows, long lines) {
    String moved(String column, long by) {
      return by == 0
          ? column
          : column + " + CASE WHEN " + Rows.ofFile("n", file) + " THEN " + by + " ELSE 0 END";
    }
  }

  /** Returns the shift of each task. Only the first file of a task can begin before its portion. */
  private static List<Shift> shifts(List<StageFile> parts) {
    Map<Integer, Shift> read = new TreeMap<>();
    List<Shift> shifts = new ArrayList<>();
    for (StageFile part : parts) {
      Shift own = new Shift(0, 0, 0);
      for (String word : part.rows().subList(2, part.rows().size())) {
        List<Long> numbers = Arrays.stream(word.split(":", -1)).map(Long::valueOf).toList();
        int file = Math.toIntExact(numbers.get(0));
        Shift before = read.getOrDefault(file, new Shift(file, 0, 0));
        own = before.rows() + before.lines() > 0 ? before : own;
        read.put(
            file, new Shift(file, before.rows() + numbers.get(1), before.lines() + numbers.get(2)));
      }
      shifts.add(own);
    }
    return shifts;
  }

  /** Returns one file for each task of the first stage, in the order of the tasks. */
  private List<StageFile> complete(StageFile.Kind kind, List<String> folders, String files) {
    List<StageFile> all = StageFile.find(engine, folders, kind);
    int tasks = all.get(0).part().get(1);
    TreeMap<Integer, StageFile> byTask = new TreeMap<>();
    for (StageFile file : all) {
      require(
          file.rows().get(0).equals(settings.digest()),
          file.path() + ": these " + kind.stem() + " were written with other settings",
          "use one config for both stages of prepare, and run the first stage again");
      require(
          file.rows().get(1).equals(files),
          file.path() + ": these " + kind.stem() + " were made of other input files",
          "the names or the sizes of the input files have changed: run the first stage again");
      require(
          file.part().get(1) == tasks,
          "%s: these %s are of an array of %s tasks, and %s is of %s"
              .formatted(file.path(), kind.stem(), file.part().get(1), all.get(0).path(), tasks),
          "name the output of one run of the first stage");
      StageFile other = byTask.put(file.part().get(0), file);
      require(
          other == null,
          "%s: task %s has other %s, too: %s"
              .formatted(
                  file.path(), file.part().get(0), kind.stem(), other == null ? "" : other.path()),
          "name the output of one run of the first stage");
    }
    List<String> missing =
        IntStream.range(0, tasks)
            .filter(task -> !byTask.containsKey(task))
            .mapToObj(String::valueOf)
            .toList();
    if (!missing.isEmpty()) {
      throw StageFile.missing(
          kind,
          "the %s of task %s of 0-%s are missing in %s"
              .formatted(
                  kind.stem(), Plural.some(missing, NAMED), tasks - 1, String.join(", ", folders)),
          Path.of(folders.get(0)),
          String.join(",", missing));
    }
    return List.copyOf(byTask.values());
  }

  private static void require(boolean right, String message, String step) {
    if (!right) {
      throw StageFile.invalid(StageFile.Kind.PARTS, message, step);
    }
  }

  private static String digest(List<InputFile> files, List<Long> sizes) {
    StringBuilder all = new StringBuilder();
    for (int f = 0; f < files.size(); f++) {
      all.append(sizes.get(f)).append(' ').append(Sql.text(files.get(f).path())).append('\n');
    }
    return Sha256.of(all.toString());
  }
}
