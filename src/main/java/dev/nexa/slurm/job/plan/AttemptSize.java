package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * The most that a later attempt of a task is charged for, because attempts grow.
 *
 * @param cpus the CPUs over all nodes
 * @param memoryBytes the memory over all nodes
 * @param timeLimitSeconds its time limit
 */
public record AttemptSize(long cpus, long memoryBytes, long timeLimitSeconds) {
  /** The key of plan.json, and of an approval's limits. */
  public static final String KEY = "grow";

  /** Adds the sizes to an object, unless there are none. */
  public static void addTo(JsonObject json, List<AttemptSize> sizes) {
    List<JsonObject> all = new ArrayList<>();
    for (AttemptSize size : sizes) {
      all.add(Codec.write(size));
    }
    json.with(KEY, all);
  }

  /** Returns the sizes of an object that has them. */
  public static List<AttemptSize> of(JsonObject json) {
    List<AttemptSize> sizes = new ArrayList<>();
    for (JsonObject size : json.objects(KEY)) {
      sizes.add(Codec.read(size, AttemptSize.class));
    }
    return sizes;
  }
}
