package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import java.util.List;
import java.util.Optional;

/**
 * One thing that a run waits for, as its journal keeps it.
 *
 * @param type sbatch's word: {@code afterok}, {@code afterany}, {@code afternotok} or {@code
 *     aftercorr}
 * @param reference a run id, or the id of a job that is no run's
 * @param stage the stage of the run's pipeline that {@code reference} is; empty for {@code
 *     --dependency}
 */
public record Earlier(String type, String reference, Optional<String> stage) {

  /** Returns the run; empty if this is a job of no run. */
  public Optional<RunId> run() {
    return RunId.parse(reference);
  }

  /** Returns the earlier stage's name, else the run or job id. */
  public String name() {
    return stage.orElse(reference);
  }

  /** Returns the list as a journal keeps it. */
  public static List<JsonObject> toJson(List<Earlier> all) {
    return all.stream().map(Codec::write).toList();
  }

  static List<Earlier> fromJson(List<JsonObject> json) {
    return json.stream().map(one -> Codec.read(one, Earlier.class)).toList();
  }
}
