package dev.nexa.slurm.approve;

import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** In which members two JSON objects differ, by their names. */
public final class JsonDifference {
  private JsonDifference() {}

  /** One line a difference: {@code nodes: 1 was approved, this is 2}. */
  public static List<String> lines(JsonObject approved, JsonObject now) {
    Map<String, String> before = new TreeMap<>();
    Map<String, String> after = new TreeMap<>();
    flatten("", approved, before);
    flatten("", now, after);
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    List<String> lines = new ArrayList<>();
    for (String name : names) {
      String was = before.getOrDefault(name, "none");
      String is = after.getOrDefault(name, "none");
      if (!was.equals(is)) {
        lines.add(name + ": " + was + " was approved, this is " + is);
      }
    }
    return lines;
  }

  private static void flatten(String path, @Nullable Object value, Map<String, String> into) {
    if (value instanceof JsonObject object) {
      for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
        String name = path.isEmpty() ? member.getKey() : path + "." + member.getKey();
        flatten(name, member.getValue(), into);
      }
    } else if (value != null) {
      into.put(path, value instanceof String text ? text : Json.compact(value));
    }
  }
}
