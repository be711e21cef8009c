package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.config.Sweep;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The manifest's {@code points}: what each task of a sweep tried, and what came of it. */
final class SweepPoints {
  private SweepPoints() {}

  static List<JsonObject> of(
      List<JsonObject> points, List<TaskOutcome> tasks, Map<Integer, JsonObject> metrics) {
    List<JsonObject> all = new ArrayList<>();
    for (int task = 0; task < points.size(); task++) {
      JsonObject point =
          new JsonObject()
              .with("task", task)
              .with("state", tasks.get(task).state().name().toLowerCase(Locale.ROOT))
              .with("values", points.get(task))
              .with("tags", tags(points.get(task)));
      JsonObject own = metrics.get(task);
      all.add(own == null ? point : point.with("metrics", own));
    }
    return all;
  }

  /** {@code lr:0.00001}, as the Nexa_Compute project writes them. */
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
