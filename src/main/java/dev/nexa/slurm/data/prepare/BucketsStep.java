package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Output;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * {@code data buckets}: puts the signatures of all tasks of {@code prepare} into buckets, and
 * writes the pairs. Each task has its own bands.
 */
public record BucketsStep(Engine engine, Share share) {
  /**
   * Writes the pairs of this task's bands.
   *
   * @param input the output of {@code prepare} with {@code signatures: true}
   * @return the values for the run's metrics
   * @throws dev.nexa.slurm.base.error.NexaException if the signatures of a task are missing, if
   *     they are of different runs, or if there are more tasks than bands
   */
  public JsonObject run(List<String> input, Path folder) {
    if (share.tasks() > NearDuplicates.BANDS) {
      throw StageFile.invalid(
          "data buckets has %s bands, too few for %s tasks"
              .formatted(NearDuplicates.BANDS, share.tasks()),
          "give the stage an array of at most " + NearDuplicates.BANDS + " shards");
    }
    Output output = Output.in(engine, folder, share, List.of(StageFile.Kind.PAIRS.stem()));
    List<StageFile> all = StageFile.find(engine, input, StageFile.Kind.SIGNATURES);
    List<Integer> bands = new ArrayList<>();
    List<String> rows = List.of();
    long read = 0;
    Clusters clusters = new Clusters(engine);
    clusters.begin();
    for (int band = share.task(); band < NearDuplicates.BANDS; band += share.tasks()) {
      List<StageFile> files = ofBand(all, band);
      List<String> own = files.stream().map(file -> file.rows().get(0)).toList();
      if (!bands.isEmpty() && !own.equals(rows)) {
        throw different(files.get(0).path());
      }
      rows = own;
      bands.add(band);
      String relation = StageFile.relation(files);
      read += engine.number("SELECT count(*) FROM " + relation);
      clusters.addPairs("(SELECT s, n FROM " + relation + ")");
    }
    output.write(
        "SELECT n, first FROM pairs",
        share.fileName(StageFile.Kind.PAIRS.stem(), 0, "parquet"),
        StageFile.options(StageFile.Kind.PAIRS, bands, rows));
    return output.report(
        new JsonObject()
            .with("signatures", read)
            .with("pairs", engine.number("SELECT count(*) FROM pairs")));
  }

  /** Returns the files of a band in the order of their tasks, one for each task. */
  private static List<StageFile> ofBand(List<StageFile> all, int band) {
    TreeMap<Integer, StageFile> byTask = new TreeMap<>();
    int tasks = all.get(0).part().get(2);
    for (StageFile file : all) {
      if (file.part().get(2) != tasks
          || (file.part().get(0) == band && byTask.put(file.part().get(1), file) != null)) {
        throw different(file.path());
      }
    }
    for (int task = 0; task < tasks; task++) {
      if (!byTask.containsKey(task)) {
        throw StageFile.missing(
            StageFile.Kind.SIGNATURES,
            "the signatures of task %s of 0-%s, band %s, are missing"
                .formatted(task, tasks - 1, band),
            Path.of(all.get(0).path()).resolveSibling(""),
            "" + task);
      }
    }
    return List.copyOf(byTask.values());
  }

  private static RuntimeException different(String path) {
    return StageFile.invalid(
        path + ": these signatures are of another run than the others",
        "name the output of one run of the stage with " + StageFile.Kind.SIGNATURES.writer());
  }
}
