package dev.nexa.slurm.run.results;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.documents.PackedIndices;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.telemetry.Telemetry;
import dev.nexa.slurm.records.telemetry.TelemetrySummary;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
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
import org.jspecify.annotations.Nullable;

/**
 * The files that the tasks left in results/, apart from their exit statuses.
 *
 * @param metrics the run's metrics, merged from the tasks' NEXA_METRICS files (one flat JSON object
 *     each). Whole numbers are added up, except in a sweep; any other value is kept only if all
 *     tasks that wrote it agree
 * @param byTask each task's own metrics
 * @param unfitNodes each node that a task found unfit, and why
 * @param failures the first failure of each failed attempt; at most {@value #MOST_FAILURES}
 * @param charged the metrics that costs depend on
 * @param telemetry the samples; empty if there are none, or if the run has not ended
 * @param energy the sampled energy of each attempt, by {@link Telemetry#attempt}
 * @param packed the results of indices that have ended, where tasks run several; empty if none has
 */
public record TaskResults(
    JsonObject metrics,
    Map<Integer, JsonObject> byTask,
    List<JsonObject> unfitNodes,
    List<JsonObject> failures,
    ChargedMetrics charged,
    Optional<TelemetrySummary> telemetry,
    Map<String, Telemetry.Energy> energy,
    Optional<PackedIndices> packed) {
  /** The results of a run whose tasks left none. */
  public static final TaskResults NONE = new TaskResults(new JsonObject(), Map.of(), List.of());

  private static final Pattern NO_NUMBER =
      Pattern.compile("(?<=[:\\[,])(\\s*)(-?Infinity|NaN)(?=\\s*[,\\]}])");
  private static final Pattern METRICS = Pattern.compile("(\\d+)\\.(\\d+)\\.metrics\\.json");
  private static final Pattern TRACKED = Pattern.compile("(\\d+)\\.(\\d+)\\.tracked\\.json");
  private static final Pattern INDICES = Pattern.compile("\\d{1,9}\\.\\d+\\.indices");
  private static final Pattern FAILURE = Pattern.compile("(\\d+)\\.(\\d+)\\.failure\\.json");

  /** More failures tell a reader nothing new. */
  private static final int MOST_FAILURES = 100;

  private static final Pattern UNFIT = Pattern.compile("(\\d+)\\.(\\d+)\\.unfit\\.(.+)");

  /** Makes results without unreadable files and without failures. */
  public TaskResults(
      JsonObject metrics, Map<Integer, JsonObject> byTask, List<JsonObject> unfitNodes) {
    this(
        metrics,
        byTask,
        unfitNodes,
        List.of(),
        ChargedMetrics.of(byTask, new TreeSet<>()),
        Optional.empty(),
        Map.of(),
        Optional.empty());
  }

  /**
   * Reads the results of a run.
   *
   * @param sweep whether the run is a sweep
   * @param problems receives a line for each metrics file that is not a JSON object, and for each
   *     value that costs depend on but that is not a valid number
   */
  public static TaskResults read(
      RunFolder run, RunState journal, boolean sweep, List<String> problems) {
    Map<Integer, Path> newest = new TreeMap<>();
    Map<Integer, Path> tracked = new TreeMap<>();
    List<Path> packed = new ArrayList<>();
    List<JsonObject> unfit = new ArrayList<>();
    List<JsonObject> failures = new ArrayList<>();
    for (Submission submission : journal.submissions()) {
      List<Path> files =
          DurableFiles.list(run.submission(submission.key()).resolve("results"), "*");
      newestByTask(METRICS, files, newest);
      newestByTask(TRACKED, files, tracked);
      for (Path file : files) {
        if (INDICES.matcher(file.getFileName().toString()).matches()) {
          packed.add(file);
        }
      }
      unfit(files, unfit);
      failures(files, failures, problems);
    }
    TreeSet<Integer> broken = new TreeSet<>();
    Map<Integer, JsonObject> byTask = byTask(newest, broken, problems);
    Optional<PackedIndices> indices =
        packed.isEmpty()
            ? Optional.empty()
            : Optional.of(IndexResults.add(packed, byTask, problems));
    // The script's own tracked values count where the task's metrics lack them.
    for (Map.Entry<Integer, JsonObject> own : byTask(tracked, broken, problems).entrySet()) {
      if (newest.containsKey(own.getKey()) && !byTask.containsKey(own.getKey())) {
        continue;
      }
      JsonObject metrics = byTask.computeIfAbsent(own.getKey(), task -> new JsonObject());
      own.getValue()
          .members()
          .forEach(
              (name, value) -> {
                if (!metrics.members().containsKey(name)) {
                  metrics.with(name, value);
                }
              });
    }
    ChargedMetrics charged = ChargedMetrics.of(byTask, broken);
    for (String sentence : charged.unread()) {
      problems.add(run.id() + ": " + sentence);
    }
    for (Map.Entry<Integer, JsonObject> own : byTask.entrySet()) {
      own.setValue(charged.inOneForm(own.getKey(), own.getValue()));
    }
    return new TaskResults(
        together(byTask, sweep),
        byTask,
        unfit,
        failures,
        charged,
        Optional.empty(),
        Map.of(),
        indices);
  }

  /**
   * Returns the results with what was sampled. A task that wrote no {@code gpu_utilization} gets
   * the sampled one.
   */
  public TaskResults sampled(Telemetry sampled, boolean sweep) {
    if (sampled.summary().isEmpty()) {
      return this;
    }
    Map<Integer, JsonObject> all = new TreeMap<>(byTask);
    for (Map.Entry<Integer, BigDecimal> task : sampled.gpuUtilization().entrySet()) {
      JsonObject own = all.getOrDefault(task.getKey(), new JsonObject()).without();
      if (!own.members().containsKey(ChargedMetrics.GPU_UTILIZATION)) {
        all.put(task.getKey(), own.with(ChargedMetrics.GPU_UTILIZATION, task.getValue()));
      }
    }
    return new TaskResults(
        together(all, sweep),
        all,
        unfitNodes,
        failures,
        ChargedMetrics.of(all, new TreeSet<>(charged.broken())),
        sampled.summary(),
        sampled.energy(),
        packed);
  }

  private static Map<Integer, JsonObject> byTask(
      Map<Integer, Path> newest, TreeSet<Integer> broken, List<String> problems) {
    Map<Integer, JsonObject> metrics = new TreeMap<>();
    for (Map.Entry<Integer, Path> file : newest.entrySet()) {
      try {
        metrics.put(
            file.getKey(), metrics(file.getValue(), DurableFiles.read(file.getValue()), problems));
      } catch (IllegalArgumentException | UncheckedIOException unreadable) {
        broken.add(file.getKey());
        problems.add(file.getValue() + ": " + unreadable.getMessage());
      }
    }
    return metrics;
  }

  /**
   * Reads metrics. Python writes NaN and Infinity, which JSON does not have: they become texts, so
   * that the other metrics stay.
   */
  static JsonObject metrics(Path file, String text, List<String> problems) {
    try {
      return Json.parseObject(text);
    } catch (IllegalArgumentException broken) {
      String quoted = NO_NUMBER.matcher(text).replaceAll("$1\"$2\"");
      if (quoted.equals(text)) {
        throw broken;
      }
      JsonObject metrics = Json.parseObject(quoted);
      problems.add(file + ": it has NaN or Infinity, which is no number; it is kept as a text");
      return metrics;
    }
  }

  /** Merges the metrics of all tasks into the run's metrics. */
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

  /**
   * Returns the results of the indices of a run.
   *
   * @param indices how many it has; empty if each of its tasks is one
   */
  public Optional<PackedIndices> packed(Optional<Integer> indices) {
    return indices.isEmpty()
        ? Optional.empty()
        : Optional.of(packed.orElse(PackedIndices.NONE).among(indices.get()));
  }

  /** Finds each task's newest file, which has the highest restart number. */
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

  private static void failures(List<Path> files, List<JsonObject> failures, List<String> problems) {
    for (Path file : files) {
      Matcher name = FAILURE.matcher(file.getFileName().toString());
      if (failures.size() < MOST_FAILURES && name.matches()) {
        try {
          JsonObject failure =
              new JsonObject()
                  .with("task", Integer.parseInt(name.group(1)))
                  .with("restart", Integer.parseInt(name.group(2)));
          Json.parseObject(DurableFiles.read(file)).members().forEach(failure::with);
          failures.add(failure);
        } catch (IllegalArgumentException | UncheckedIOException broken) {
          problems.add(file + ": " + broken.getMessage());
        }
      }
    }
  }

  private static boolean isCount(BigDecimal number) {
    return number.scale() <= 0;
  }
}
