package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Output;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * {@code data clusters}: puts all pairs together. For each row that is not the first of its
 * cluster, it writes the first row.
 */
public record ClustersStep(Engine engine) {
  /**
   * Writes the duplicates.
   *
   * @param input the output of {@code data buckets}
   * @return the values for the run's metrics
   * @throws dev.nexa.slurm.base.error.NexaException if the pairs of a band are missing, or if they
   *     are of different rows
   */
  public JsonObject run(List<String> input, Path folder) {
    Output output = Output.in(engine, folder, Share.ALL, List.of(StageFile.Kind.DUPLICATES.stem()));
    List<StageFile> files = StageFile.find(engine, input, StageFile.Kind.PAIRS);
    List<String> rows = files.get(0).rows();
    Set<Integer> bands = new TreeSet<>();
    for (StageFile file : files) {
      if (!file.rows().equals(rows) || !file.part().stream().allMatch(bands::add)) {
        throw StageFile.invalid(
            file.path() + ": these pairs are of another run than the others",
            "name the output of one run of the stage with " + StageFile.Kind.PAIRS.writer());
      }
    }
    for (int band = 0; band < NearDuplicates.BANDS; band++) {
      if (!bands.contains(band)) {
        throw StageFile.invalid(
            "the pairs of band " + band + " are missing",
            "a task of the stage with "
                + StageFile.Kind.PAIRS.writer()
                + " has not written them: run it again with nexa-slurm rerun --tasks TASK RUN");
      }
    }
    Clusters clusters = new Clusters(engine);
    engine.run("CREATE TABLE pairs AS SELECT DISTINCT n, first FROM " + StageFile.relation(files));
    long pairs = engine.number("SELECT count(*) FROM pairs");
    clusters.label();
    output.write(
        "SELECT n, label FROM labels",
        Share.ALL.fileName(StageFile.Kind.DUPLICATES.stem(), 0, "parquet"),
        StageFile.options(StageFile.Kind.DUPLICATES, List.of(), rows));
    return output.report(
        new JsonObject()
            .with("pairs", pairs)
            .with("clusters", engine.number("SELECT count(DISTINCT label) FROM labels"))
            .with("duplicates", engine.number("SELECT count(*) FROM labels")));
  }
}
