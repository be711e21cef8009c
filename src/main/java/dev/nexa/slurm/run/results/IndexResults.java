package dev.nexa.slurm.run.results;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.records.documents.PackedIndices;
import java.io.UncheckedIOException;
import java.nio.file.Path;
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

  private IndexResults() {}

  /**
   * Adds up the indices of a run.
   *
   * @param files what the attempts wrote, oldest first; a name begins with the task's number
   * @param byTask receives each task's metrics, from the metrics of its indices
   */
  static PackedIndices add(
      List<Path> files, Map<Integer, JsonObject> byTask, List<String> problems) {
    Set<Integer> good = new HashSet<>();
    TreeSet<Integer> failed = new TreeSet<>();
    Map<Integer, Map<Integer, JsonObject>> metrics = new TreeMap<>();
    for (Path file : files) {
      int task = Integer.parseInt(file.getFileName().toString().split("\\.", 2)[0]);
      try {
        Matcher line = LINE.matcher(DurableFiles.read(file));
        while (line.find()) {
          int index = Integer.parseInt(line.group(1));
          (line.group(2).equals("0") ? good : failed).add(index);
          JsonObject own = metrics(file, line.group(3), problems);
          if (!own.isEmpty()) {
            metrics.computeIfAbsent(task, none -> new TreeMap<>()).put(index, own);
          }
        }
      } catch (UncheckedIOException unreadable) {
        problems.add(file + ": " + unreadable.getMessage());
      }
    }
    failed.removeAll(good);
    metrics.forEach((task, own) -> byTask.put(task, TaskResults.together(own, false)));
    List<Integer> first = failed.stream().limit(PackedIndices.MOST_NAMED).toList();
    return new PackedIndices(
        0,
        good.size(),
        failed.size(),
        Optional.of(new IndexRange(first).toString()).filter(named -> !named.isEmpty()));
  }

  private static JsonObject metrics(Path file, String text, List<String> problems) {
    try {
      return TaskResults.metrics(file, text, problems);
    } catch (IllegalArgumentException broken) {
      problems.add(file + ": " + broken.getMessage());
      return new JsonObject();
    }
  }
}
