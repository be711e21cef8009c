package dev.nexa.slurm.records.documents;

import dev.nexa.slurm.base.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A value that two snapshots do not share. Pure.
 *
 * @param before empty if only the second has it
 * @param after empty if only the first has it
 */
public record SnapshotChange(String name, Optional<String> before, Optional<String> after) {
  /** Names by the likely effect of a change, the largest first. */
  private static final List<Pattern> ORDER =
      patterns(
          "nvidia\\..*",
          "mapped\\.libnccl\\.version",
          "mapped\\.libnccl\\..*|disagrees\\..*",
          "torch\\.version",
          "torch\\..*|mapped\\.lib(cuda|cudart)\\..*",
          "python\\..*",
          "mapped\\..*",
          "env\\.NCCL_.*",
          "env\\..*",
          "gpus",
          "kernel|os|glibc|cpu|cpus|memory",
          "slurm\\..*",
          "container.*|uv\\.lock",
          "package\\..*",
          "nexa-slurm\\..*",
          "run\\..*");

  /** Values that are known only if a process was seen. */
  private static final Pattern OF_PROCESS =
      Pattern.compile("(mapped|disagrees|torch|python|package|env)\\..*");

  /** Values that are equal if a file's version is equal. */
  private static final Pattern CONTENT = Pattern.compile("(mapped\\..*)\\.(sha256|bytes)");

  /** Of what belongs to one run, only the nodes and their GPUs are compared. */
  private static final Set<String> NODES = Set.of("run.nodes", "run.gpus");

  private static final String PACKAGE = "package.";

  private static final Pattern DIGEST = Pattern.compile("\\b([0-9a-f]{12})[0-9a-f]{52}\\b");

  private static List<Pattern> patterns(String... patterns) {
    return List.of(patterns).stream().map(Pattern::compile).toList();
  }

  /**
   * Compares two runs. What is known only of a process counts if it was seen in both.
   *
   * @return the changes by their likely effect, then by name
   */
  public static List<SnapshotChange> between(Snapshot one, Snapshot other) {
    boolean seen = one.hasProcess() && other.hasProcess();
    return between(one, other, name -> seen || !OF_PROCESS.matcher(name).matches());
  }

  /**
   * Compares a run with a machine, by the names that both have, without the nodes. If both have
   * packages, a package that is missing on one side counts, too.
   */
  public static List<SnapshotChange> known(Snapshot run, Snapshot machine) {
    Set<String> both = new TreeSet<>(run.facts().keySet());
    both.retainAll(machine.facts().keySet());
    boolean packages = both.stream().anyMatch(name -> name.startsWith(PACKAGE));
    return between(
        run,
        machine,
        name ->
            !name.startsWith(Snapshot.OF_RUN)
                && (both.contains(name) || (packages && name.startsWith(PACKAGE))));
  }

  private static List<SnapshotChange> between(
      Snapshot one, Snapshot other, Predicate<String> counts) {
    Map<String, String> before = one.facts();
    Map<String, String> after = other.facts();
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    List<SnapshotChange> changes = new ArrayList<>();
    for (String name : names) {
      SnapshotChange change =
          new SnapshotChange(
              name, Optional.ofNullable(before.get(name)), Optional.ofNullable(after.get(name)));
      boolean told = !name.startsWith(Snapshot.OF_RUN) || NODES.contains(name);
      if (told && counts.test(name) && !change.before.equals(change.after)) {
        changes.add(change);
      }
    }
    List<String> changed = changes.stream().map(SnapshotChange::name).toList();
    changes.removeIf(change -> changed.contains(versionOf(change.name)));
    changes.sort(
        Comparator.comparingInt((SnapshotChange change) -> rank(change.name))
            .thenComparing(SnapshotChange::name));
    return changes;
  }

  /** Another version has another content, which says no more. */
  private static String versionOf(String name) {
    Matcher content = CONTENT.matcher(name);
    return content.matches() ? content.group(1) + ".version" : "";
  }

  private static int rank(String name) {
    int rank = 0;
    while (rank < ORDER.size() && !ORDER.get(rank).matcher(name).matches()) {
      rank++;
    }
    return rank;
  }

  /** Returns whether the change can be a cause: not the nodes that the job got, or a path. */
  public boolean isCause() {
    return !NODES.contains(name) && !name.endsWith(".path") && !name.endsWith(".folders");
  }

  /** Returns {@code name old -> new} with a short name, for a list in a sentence. */
  public String phrase() {
    String part = name.replaceFirst("^mapped\\.", "").replaceFirst("\\.version$", "");
    return part + " " + shown(before) + " -> " + shown(after);
  }

  /** Returns {@code name old -> new}; of a digest, the beginning. */
  public String line() {
    return name + "  " + shown(before) + " -> " + shown(after);
  }

  private static String shown(Optional<String> value) {
    return DIGEST.matcher(value.orElse("none")).replaceAll("$1");
  }

  /** Returns the change for {@code --json}, with whole values. */
  public JsonObject json() {
    return new JsonObject()
        .with("name", name)
        .with("before", before.orElse(null))
        .with("after", after.orElse(null));
  }
}
