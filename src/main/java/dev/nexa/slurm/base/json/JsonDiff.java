package dev.nexa.slurm.base.json;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Compares two JSON objects member by member. A null is as good as a missing member. */
public final class JsonDiff {
  /**
   * A member whose value differs. Lists are compared as a whole.
   *
   * @param path its name, behind the names of the objects around it: {@code allocation.nodes}
   * @param before null if it was not there
   * @param after null if it is not there any more
   */
  public record Change(String path, @Nullable Object before, @Nullable Object after) {}

  private JsonDiff() {}

  /** The members that differ, in the order of the first object, then of the second. */
  public static List<Change> between(JsonObject before, JsonObject after) {
    Map<String, Object> one = new LinkedHashMap<>();
    Map<String, Object> two = new LinkedHashMap<>();
    flatten("", before, one);
    flatten("", after, two);
    return Stream.concat(one.keySet().stream(), two.keySet().stream())
        .distinct()
        .map(path -> new Change(path, one.get(path), two.get(path)))
        .filter(change -> !Json.compact(change.before()).equals(Json.compact(change.after())))
        .toList();
  }

  private static void flatten(String path, JsonObject object, Map<String, Object> leaves) {
    for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
      String name = path.isEmpty() ? member.getKey() : path + "." + member.getKey();
      Object value = member.getValue();
      if (value instanceof JsonObject inner) {
        flatten(name, inner, leaves);
      } else if (value != null) {
        leaves.put(name, value);
      }
    }
  }
}
