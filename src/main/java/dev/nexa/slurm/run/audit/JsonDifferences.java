package dev.nexa.slurm.run.audit;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.run.reconcile.CostRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Lists the differences between a kept and a derived document: path, kept value, expected value.
 */
final class JsonDifferences {
  private static final int MOST = 10;
  private static final int LONGEST = 120;

  private final List<String> found = new ArrayList<>();
  private final TreeSet<String> unknown = new TreeSet<>();
  private int more;

  private JsonDifferences() {}

  /**
   * Compares two documents.
   *
   * @param known the members that this version can write
   */
  static JsonDifferences between(JsonObject kept, JsonObject derived, KnownMembers known) {
    JsonDifferences differences = new JsonDifferences();
    differences.compare("", kept, derived, known);
    if (differences.more > 0) {
      differences.found.add("and " + differences.more + " more");
    }
    return differences;
  }

  /** Returns the first ten differences, and a line that counts the others. */
  List<String> found() {
    return found;
  }

  /** Returns the kept members that only a newer version can have written, sorted. */
  List<String> unknown() {
    return List.copyOf(unknown);
  }

  private void compare(
      String path, @Nullable Object kept, @Nullable Object derived, KnownMembers known) {
    if (kept instanceof JsonObject one && derived instanceof JsonObject other) {
      TreeSet<String> names = new TreeSet<>(one.members().keySet());
      names.addAll(other.members().keySet());
      for (String name : names) {
        String inner = path.isEmpty() ? name : path + "." + name;
        boolean isKept = one.members().containsKey(name);
        if (isKept && other.members().containsKey(name)) {
          compare(inner, one.members().get(name), other.members().get(name), known.member(name));
        } else if (isKept && known.isUnknown(name)) {
          unknown.add(inner.replaceAll("\\[\\d+\\]", "[]"));
        } else if (!CostRecord.ASKED_FOR.contains(name)) {
          add(inner + (isKept ? " should not be there" : " is missing"));
        }
      }
    } else if (kept instanceof List<?> one && derived instanceof List<?> other) {
      if (one.size() != other.size()) {
        add(path + " has " + one.size() + " elements, expected " + other.size());
      }
      for (int i = 0; i < Math.min(one.size(), other.size()); i++) {
        compare(path + "[" + i + "]", one.get(i), other.get(i), known.element());
      }
    } else if (!text(kept).equals(text(derived))) {
      add(path + " is " + text(kept) + ", expected " + text(derived));
    }
  }

  private static String text(@Nullable Object value) {
    String text = Json.compact(value);
    return text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text;
  }

  private void add(String difference) {
    if (found.size() < MOST) {
      found.add(difference);
    } else {
      more++;
    }
  }
}
