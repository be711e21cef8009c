package dev.nexa.slurm.records.diagnostics;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.records.diagnostics.NodeCheck.Result;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.apache.commons.statistics.descriptive.Median;

/**
 * The checks of one run of {@code backend: diag}.
 *
 * @param run the run's id; empty for checks of this machine
 * @param checks in the order of the nodes and of the rows
 */
public record Diagnosis(String run, List<NodeCheck> checks) {
  /** The stage of these runs, in configs/diag/nodes.yaml. Their ids begin with it. */
  public static final String STAGE = "diag";

  private static final String FILE = ".diag.tsv";
  private static final int MOST_READ = 50;
  private static final int REMEMBERED = 10;
  private static final int FEWEST = 3;
  private static final double LEAST = 0.8;
  private static final int LARGEST = 64 << 20;

  /** Returns what a run found; without checks if it has not got so far. */
  public static Diagnosis of(RunFolder run) {
    List<NodeCheck> checks = new ArrayList<>();
    for (Path submission : DurableFiles.list(run.path().resolve("submissions"), "*")) {
      Path results = submission.resolve("results");
      if (Files.isDirectory(results)) {
        // A later attempt has a later name.
        DurableFiles.list(results, "*" + FILE).stream()
            .max(Comparator.naturalOrder())
            .ifPresent(
                file -> checks.addAll(NodeCheck.read(DurableFiles.readRegular(file, LARGEST))));
      }
    }
    return new Diagnosis(run.id().value(), checks);
  }

  /** Returns the newest fifty diagnoses of a workspace that found something, the newest first. */
  public static List<Diagnosis> newestFirst(Workspace workspace) {
    return workspace.claimed(STAGE).stream()
        .sorted(Comparator.reverseOrder())
        .limit(MOST_READ)
        .map(id -> of(workspace.run(id)))
        .filter(diagnosis -> !diagnosis.checks().isEmpty())
        .toList();
  }

  /**
   * Returns a copy where a node's figure is a warning if it is below 80 % of the median of its own
   * last ten. A figure with fewer than three earlier figures stays unchanged.
   *
   * @param earlier other diagnoses, the newest first
   */
  public Diagnosis against(List<Diagnosis> earlier) {
    Map<String, List<Double>> before = new HashMap<>();
    for (Diagnosis one : earlier) {
      if (one.run().compareTo(run) < 0) {
        for (NodeCheck check : one.checks()) {
          check
              .figure()
              .ifPresent(
                  figure ->
                      before.computeIfAbsent(key(check), key -> new ArrayList<>()).add(figure));
        }
      }
    }
    return new Diagnosis(
        run, checks.stream().map(check -> judged(check, before.get(key(check)))).toList());
  }

  private static NodeCheck judged(
      NodeCheck check, @org.jspecify.annotations.Nullable List<Double> before) {
    OptionalDouble figure = check.figure();
    if (check.result() != Result.OK
        || figure.isEmpty()
        || before == null
        || before.size() < FEWEST) {
      return check;
    }
    double median =
        Median.withDefaults()
            .evaluate(before.stream().limit(REMEMBERED).mapToDouble(one -> one).toArray());
    return figure.getAsDouble() >= median * LEAST
        ? check
        : check.warning("below its own median of %s".formatted((float) median));
  }

  private static String key(NodeCheck check) {
    return check.node() + " " + check.check();
  }

  /** Returns the worst result of each node, in the order of the nodes. */
  public Map<String, Result> byNode() {
    Map<String, Result> worst = new LinkedHashMap<>();
    for (NodeCheck check : checks) {
      worst.merge(check.node(), check.result(), (one, two) -> one.compareTo(two) >= 0 ? one : two);
    }
    return worst;
  }

  /** Returns whether a node has a critical finding. */
  public boolean isCritical() {
    return byNode().containsValue(Result.CRITICAL);
  }

  /** Returns one line: {@code 4 nodes: 1 critical (n3), 3 ok; 88 checks}. */
  public String summary() {
    Map<String, Result> worst = byNode();
    StringBuilder text = new StringBuilder(Plural.of(worst.size(), "node"));
    String between = ": ";
    for (Result result : List.of(Result.CRITICAL, Result.WARNING, Result.UNKNOWN, Result.OK)) {
      List<String> nodes =
          worst.entrySet().stream()
              .filter(node -> node.getValue() == result)
              .map(Map.Entry::getKey)
              .toList();
      if (!nodes.isEmpty()) {
        String named = result == Result.OK ? "" : " (" + String.join(", ", nodes) + ")";
        text.append(between).append(nodes.size()).append(' ').append(result.text()).append(named);
        between = ", ";
      }
    }
    return text + "; " + checks.size() + " checks";
  }

  /** Returns the warnings and the critical checks, the critical ones first. */
  public List<NodeCheck> findings() {
    return checks.stream()
        .filter(check -> check.result().compareTo(Result.WARNING) >= 0)
        .sorted(Comparator.comparing(NodeCheck::result).reversed())
        .toList();
  }

  /** Returns the names of the checks that could not look on some node, without repetition. */
  public List<String> blind() {
    return checks.stream()
        .filter(check -> check.result() == Result.UNKNOWN)
        .map(NodeCheck::check)
        .distinct()
        .toList();
  }
}
