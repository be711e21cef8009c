package dev.nexa.slurm.base.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    Set<String> paths = new LinkedHashSet<>(one.keySet());
    paths.addAll(two.keySet());
    List<Change> changes = new ArrayList<>();
    for (String path : paths) {
      Change change = new Change(path, one.get(path), two.get(path));
      if (!Json.compact(change.before()).equals(Json.compact(change.after()))) {
        changes.add(change);
      }
    }
    return changes;
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
