package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Sweep;
import dev.nexa.slurm.records.documents.ManifestFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes the manifest's {@code points}: for each task of a sweep its values, its state and its
 * metrics.
 */
final class SweepPoints {
  private SweepPoints() {}

  static List<JsonObject> of(
      List<JsonObject> points, List<TaskOutcome> tasks, Map<Integer, JsonObject> metrics) {
    return IntStream.range(0, points.size())
        .mapToObj(
            task ->
                ManifestFile.Point.toJson(
                    task,
                    tasks.get(task).state(),
                    points.get(task),
                    tags(points.get(task)),
                    metrics.get(task)))
        .toList();
  }

  /** Returns tags such as {@code lr:0.00001}, in the form of the Nexa_Compute project. */
  private static List<String> tags(JsonObject point) {
    List<String> tags = new ArrayList<>();
    for (Map.Entry<String, @Nullable Object> set : point.members().entrySet()) {
      String key = set.getKey();
      String name = key.startsWith(Sweep.OPTIONS) ? key.substring(Sweep.OPTIONS.length()) : key;
      Object value = set.getValue();
      String text = value instanceof String string ? string : Json.compact(value);
      tags.add(name.replace('-', '_') + ":" + text);
    }
    return tags;
  }
}
