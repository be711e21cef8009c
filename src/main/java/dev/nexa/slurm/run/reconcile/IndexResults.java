package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.records.documents.PackedIndices;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Adds up what templates/lib/pack.sh wrote of the indices that ended. */
final class IndexResults {
  private static final Pattern LINE =
      Pattern.compile("^(\\d{1,9}) (\\d{1,3}) (\\{.*\\})$", Pattern.MULTILINE);

  private int completed;
  private final TreeSet<Integer> failed = new TreeSet<>();

  /**
   * Adds up the indices of a run.
   *
   * @param files what each task's attempts wrote, oldest first
   * @param byTask receives each task's metrics, from those of its indices
   */
  static PackedIndices add(
      Map<Integer, List<Path>> files, Map<Integer, JsonObject> byTask, List<String> problems) {
    IndexResults results = new IndexResults();
    files.forEach(
        (task, own) -> {
          JsonObject metrics = results.task(own, problems);
          if (!metrics.isEmpty()) {
            byTask.put(task, metrics);
          }
        });
    return results.sum();
  }

  private JsonObject task(List<Path> files, List<String> problems) {
    Set<Integer> good = new HashSet<>();
    Set<Integer> bad = new HashSet<>();
    Map<Integer, JsonObject> metrics = new TreeMap<>();
    for (Path file : files) {
      String text = "";
      try {
        text = DurableFiles.read(file);
      } catch (UncheckedIOException unreadable) {
        problems.add(file + ": " + unreadable.getMessage());
      }
      Matcher line = LINE.matcher(text);
      while (line.find()) {
        int index = Integer.parseInt(line.group(1));
        (line.group(2).equals("0") ? good : bad).add(index);
        try {
          metrics.put(index, Json.parseObject(line.group(3)));
        } catch (IllegalArgumentException broken) {
          problems.add(file + ": the metrics of index " + index + ": " + broken.getMessage());
        }
      }
    }
    bad.removeAll(good);
    completed += good.size();
    failed.addAll(bad);
    return TaskResults.together(metrics, false);
  }

  private PackedIndices sum() {
    List<Integer> first = new ArrayList<>(failed.stream().limit(PackedIndices.MOST_NAMED).toList());
    Optional<String> named =
        first.isEmpty() ? Optional.empty() : Optional.of(new IndexRange(first).toString());
    return new PackedIndices(0, completed, failed.size(), named);
  }
}
