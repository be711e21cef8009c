package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the tasks left in results/ beside how they ended.
 *
 * @param metrics of their NEXA_METRICS files, one flat JSON object each, as far as they are the
 *     whole run's: whole numbers are counts and are added up over the tasks (of a sweep they are
 *     settings, and are not), anything else is kept where all tasks that wrote it say the same
 * @param byTask each task's own metrics
 * @param unfitNodes each node that a task found not well, and why
 */
public record Results(
    JsonObject metrics, Map<Integer, JsonObject> byTask, List<JsonObject> unfitNodes) {
  /** Of a run whose tasks left none. */
  public static final Results NONE = new Results(new JsonObject(), Map.of(), List.of());

  /** A metric of a task: the bytes that it sent out of the cluster. */
  private static final String EGRESS = "egress_bytes";

  private static final Pattern METRICS = Pattern.compile("(\\d+)\\.(\\d+)\\.metrics\\.json");
  private static final Pattern TRACKED = Pattern.compile("(\\d+)\\.(\\d+)\\.tracked\\.json");
  private static final Pattern UNFIT = Pattern.compile("(\\d+)\\.(\\d+)\\.unfit\\.(.+)");

  /** Reads them; a file of metrics that is no JSON object is told as a problem. */
  public static Results read(
      RunFolder run, RunState journal, boolean sweep, List<String> problems) {
    Map<Integer, Path> newest = new TreeMap<>();
    Map<Integer, Path> tracked = new TreeMap<>();
    List<JsonObject> unfit = new ArrayList<>();
    for (Submission submission : journal.submissions()) {
      List<Path> files = list(run.submission(submission.key()).resolve("results"));
      newestByTask(METRICS, files, newest);
      newestByTask(TRACKED, files, tracked);
      unfit(files, unfit);
    }
    // What the script found out stands in where no attempt of the task wrote anything itself.
    for (Map.Entry<Integer, Path> file : tracked.entrySet()) {
      newest.putIfAbsent(file.getKey(), file.getValue());
    }
    Map<Integer, JsonObject> byTask = byTask(newest, problems);
    return new Results(together(byTask, sweep), byTask, unfit);
  }

  /** What the tasks say that they sent out, together; empty where none does. */
  Optional<BigDecimal> egressBytes() {
    Optional<BigDecimal> sum = Optional.empty();
    for (JsonObject own : byTask.values()) {
      if (own.members().get(EGRESS) instanceof BigDecimal bytes
          && bytes.signum() >= 0
          && isCount(bytes)) {
        sum = Optional.of(sum.orElse(BigDecimal.ZERO).add(bytes));
      }
    }
    return sum;
  }

  private static Map<Integer, JsonObject> byTask(Map<Integer, Path> newest, List<String> problems) {
    Map<Integer, JsonObject> metrics = new TreeMap<>();
    for (Map.Entry<Integer, Path> file : newest.entrySet()) {
      try {
        metrics.put(file.getKey(), Json.parseObject(DurableFiles.read(file.getValue())));
      } catch (IllegalArgumentException | UncheckedIOException broken) {
        problems.add(file.getValue() + ": " + broken.getMessage());
      }
    }
    return metrics;
  }

  /** The metrics of all tasks as the run's. */
  static JsonObject together(Map<Integer, JsonObject> byTask, boolean sweep) {
    Map<String, @Nullable Object> merged = new TreeMap<>();
    Set<String> differing = new HashSet<>();
    for (JsonObject own : byTask.values()) {
      for (Map.Entry<String, @Nullable Object> metric : own.members().entrySet()) {
        String name = metric.getKey();
        Object earlier = merged.get(name);
        Object now = metric.getValue();
        if (!sweep
            && earlier instanceof BigDecimal sum
            && now instanceof BigDecimal more
            && isCount(sum)
            && isCount(more)) {
          merged.put(name, sum.add(more));
        } else if (merged.containsKey(name) && !Json.compact(earlier).equals(Json.compact(now))) {
          differing.add(name);
        } else {
          merged.put(name, now);
        }
      }
    }
    JsonObject metrics = new JsonObject();
    for (Map.Entry<String, @Nullable Object> metric : merged.entrySet()) {
      if (!differing.contains(metric.getKey())) {
        metrics.with(metric.getKey(), metric.getValue());
      }
    }
    return metrics;
  }

  /** A task that ran again wrote again: its highest restart counts. */
  private static void newestByTask(Pattern pattern, List<Path> files, Map<Integer, Path> newest) {
    Map<Integer, Integer> restarts = new TreeMap<>();
    for (Path file : files) {
      Matcher name = pattern.matcher(file.getFileName().toString());
      if (name.matches()) {
        int task = Integer.parseInt(name.group(1));
        int restart = Integer.parseInt(name.group(2));
        if (restart >= restarts.getOrDefault(task, 0)) {
          restarts.put(task, restart);
          newest.put(task, file);
        }
      }
    }
  }

  private static void unfit(List<Path> files, List<JsonObject> unfit) {
    for (Path file : files) {
      Matcher name = UNFIT.matcher(file.getFileName().toString());
      if (name.matches()) {
        unfit.add(
            new JsonObject()
                .with("node", name.group(3))
                .with("task", Integer.parseInt(name.group(1)))
                .with("restart", Integer.parseInt(name.group(2)))
                .with("reason", DurableFiles.read(file).strip()));
      }
    }
  }

  private static List<Path> list(Path folder) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path file : entries) {
        files.add(file);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    Collections.sort(files);
    return files;
  }

  private static boolean isCount(BigDecimal number) {
    return number.scale() <= 0;
  }
}
