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
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the tasks wrote into their NEXA_METRICS files: one flat JSON object each. Whole numbers are
 * counts and are added up over the tasks; anything else is kept from the last task that wrote it.
 */
public final class Results {
  private static final Pattern METRICS = Pattern.compile("(\\d+)\\.(\\d+)\\.metrics\\.json");

  private Results() {}

  /** The run's metrics; empty where no task wrote any. */
  public static JsonObject metrics(RunFolder run, RunState journal, List<String> problems) {
    return together(byTask(run, journal, problems));
  }

  /** Each task's own metrics. A file that is no JSON object is told as a problem. */
  static Map<Integer, JsonObject> byTask(RunFolder run, RunState journal, List<String> problems) {
    Map<Integer, Path> newest = new TreeMap<>();
    for (Submission submission : journal.submissions()) {
      newestByTask(run.submission(submission.key()).resolve("results"), newest);
    }
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
  static JsonObject together(Map<Integer, JsonObject> byTask) {
    Map<String, @Nullable Object> merged = new TreeMap<>();
    for (JsonObject own : byTask.values()) {
      merge(merged, own);
    }
    JsonObject metrics = new JsonObject();
    merged.forEach(metrics::with);
    return metrics;
  }

  /** A task that ran again wrote again: its highest restart counts. */
  private static void newestByTask(Path folder, Map<Integer, Path> newest) {
    Map<Integer, Integer> restarts = new TreeMap<>();
    for (Path file : list(folder)) {
      Matcher name = METRICS.matcher(file.getFileName().toString());
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

  private static void merge(Map<String, @Nullable Object> merged, JsonObject metrics) {
    for (Map.Entry<String, @Nullable Object> metric : metrics.members().entrySet()) {
      Object earlier = merged.get(metric.getKey());
      Object now = metric.getValue();
      if (earlier instanceof BigDecimal sum
          && now instanceof BigDecimal more
          && isCount(sum)
          && isCount(more)) {
        merged.put(metric.getKey(), sum.add(more));
      } else {
        merged.put(metric.getKey(), now);
      }
    }
  }

  private static boolean isCount(BigDecimal number) {
    return number.scale() <= 0;
  }
}
