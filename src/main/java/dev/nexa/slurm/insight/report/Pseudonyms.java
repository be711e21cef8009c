package dev.nexa.slurm.insight.report;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Stands in for names with a kind and a number, such as {@code user-2}. The same name of the same
 * kind gets the same number within one report; another report may give it another number.
 */
final class Pseudonyms {
  /** The stages that the product names itself. A config may name others. */
  private static final Set<String> STAGES =
      Set.of("data", "generate", "filter", "train", "eval", "serve", "sync");

  private static final Pattern RUN = Pattern.compile("(.+)(_\\d{8}_\\d{6}(?:_\\d+)?)");

  private final Map<String, Map<String, Integer>> numbers = new HashMap<>();

  /** Returns the stand-in for a name; an empty name stays empty. */
  String of(String kind, String name) {
    if (name.isEmpty()) {
      return name;
    }
    Map<String, Integer> known = numbers.computeIfAbsent(kind, first -> new HashMap<>());
    int next = known.size() + 1;
    return kind + "-" + known.computeIfAbsent(name, first -> next);
  }

  /** Returns a stage that the product names, and a stand-in for any other. */
  String stage(String stage) {
    return STAGES.contains(stage) ? stage : of("stage", stage);
  }

  /** Returns a run's id with its stage replaced where {@link #stage} replaces it. */
  String run(String id) {
    Matcher parts = RUN.matcher(id);
    return parts.matches() ? stage(parts.group(1)) + parts.group(2) : of("run", id);
  }
}
