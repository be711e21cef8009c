package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonDiff;
import dev.nexa.slurm.base.json.JsonObject;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Names each value of a run that differs from the approved value, by its key. */
public final class ApprovedValues {
  private ApprovedValues() {}

  /** One line for each value, by name: {@code nodes: 1 was approved, this is 2}. */
  public static List<String> differences(JsonObject approved, JsonObject now) {
    return changes(approved, now).stream()
        .map(
            change ->
                "%s: %s was approved, this is %s"
                    .formatted(change.path(), shown(change.before()), shown(change.after())))
        .toList();
  }

  /** Returns the values that differ, by name. */
  static List<JsonDiff.Change> changes(JsonObject approved, JsonObject now) {
    return JsonDiff.between(approved, now).stream()
        .sorted(Comparator.comparing(JsonDiff.Change::path))
        .toList();
  }

  /** Returns a text unchanged, and other values as JSON; {@code none} for null. */
  static String shown(@Nullable Object value) {
    return value == null ? "none" : value instanceof String text ? text : Json.compact(value);
  }
}
