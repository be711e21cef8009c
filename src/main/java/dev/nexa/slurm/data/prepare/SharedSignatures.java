package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Output;
import dev.nexa.slurm.data.rows.Share;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The files that {@code prepare} writes and reads when the tasks of an array look for near
 * duplicates together. The first stage writes the signatures of its rows. The last stage reads
 * which rows are duplicates, and checks that its rows are the rows of the first stage.
 */
record SharedSignatures(Engine engine, Share share) {
  /** Returns the first parts of the files' names. */
  static List<String> stems() {
    return IntStream.range(0, NearDuplicates.BANDS).mapToObj(SharedSignatures::stem).toList();
  }

  private static String stem(int band) {
    return String.format("%s-%02d", StageFile.Kind.SIGNATURES.stem(), band);
  }

  /** Writes a file for each band of the table {@code bands}; a band without rows, too. */
  void write(Output output) {
    List<String> rows = List.of(fingerprint());
    for (int band = 0; band < NearDuplicates.BANDS; band++) {
      output.write(
          "SELECT s, n FROM bands WHERE band = " + band,
          share.fileName(stem(band), 0, "parquet"),
          StageFile.options(
              StageFile.Kind.SIGNATURES, List.of(band, share.task(), share.tasks()), rows));
    }
  }

  /**
   * Makes the table {@code labels(n, label)} of the duplicates among all rows.
   *
   * @param clusters the output of the step {@code clusters}
   * @throws dev.nexa.slurm.base.error.NexaException if it was made of other rows than the view
   *     {@code kept} has now, or by another number of tasks
   */
  void labels(List<String> clusters) {
    List<StageFile> files = StageFile.find(engine, clusters, StageFile.Kind.DUPLICATES);
    if (files.size() > 1) {
      throw StageFile.invalid(
          "expected one file of duplicates, found %s and %s"
              .formatted(files.get(0).path(), files.get(1).path()),
          "name the output of one run");
    }
    StageFile file = files.get(0);
    int tasks = file.rows().size();
    if (tasks != share.tasks()) {
      throw StageFile.invalid(
          "%s: the signatures were written by %s tasks, and this stage has %s"
              .formatted(file.path(), tasks, share.tasks()),
          "give both stages of prepare the same array");
    }
    String then = file.rows().get(share.task());
    String now = fingerprint();
    if (!then.equals(now)) {
      String rows = count(then).equals(count(now)) ? "other rows" : count(now) + " rows";
      throw StageFile.invalid(
          "%s: task %s wrote the signatures of %s rows; now it has %s"
              .formatted(file.path(), share.task(), count(then), rows),
          "the input or the settings have changed since: run the stages again, from the signatures on");
    }
    engine.run("CREATE TABLE labels AS SELECT n, label FROM " + StageFile.relation(files));
  }

  /** Returns the number of the rows of {@code kept}, and a digest of their numbers and texts. */
  private String fingerprint() {
    return engine
        .column("SELECT count(*) || ':' || coalesce(bit_xor(hash(n, key)), 0) FROM kept")
        .get(0);
  }

  private static String count(String fingerprint) {
    return fingerprint.substring(0, fingerprint.indexOf(':'));
  }
}
