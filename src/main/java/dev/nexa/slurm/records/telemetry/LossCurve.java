package dev.nexa.slurm.records.telemetry;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.JsonStream;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.StorageClaims;
import java.io.BufferedReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A loss over the steps of a training, from the runner's own files: {@code trainer_state.json} of
 * Hugging Face's Trainer, TRL and Axolotl, or MLflow's file store.
 *
 * @param name the runner's own name, such as {@code loss} or {@code eval_loss}
 * @param source {@code trainer_state.json} or {@code mlflow}
 * @param file the file or folder that was read
 * @param points at most {@value Points#MOST} points; if the curve is longer, each point is the mean
 *     of several steps. Steps whose loss is not a finite number have no point
 * @param gap the steps whose loss is not a finite number; empty if there are none
 */
public record LossCurve(
    String name, String source, Path file, List<Point> points, Optional<Gap> gap) {
  private static final String STATE = "trainer_state.json";
  private static final String HISTORY = "log_history";
  private static final String TRACKING = "MLFLOW_TRACKING_URI";
  private static final Pattern NUMBER = Pattern.compile(".*?(\\d{1,18})");
  private static final Pattern LOSS = Pattern.compile("([A-Za-z0-9_]{1,40}[_/])?loss");
  private static final int MOST_FOLDERS = 10_000;

  /** The weight of the earlier smoothed value in the new smoothed value. */
  private static final double WEIGHT = 0.9;

  /**
   * A step's loss.
   *
   * @param smoothed an exponential mean of this step and the steps before it
   */
  public record Point(double step, double loss, double smoothed) {}

  /**
   * Steps whose loss is not a finite number.
   *
   * @param from the first step of the last stretch of such steps
   * @param toTheEnd whether no finite loss follows
   * @param last the last step of the curve
   */
  public record Gap(double from, boolean toTheEnd, double last) {
    /** Returns these steps in words, such as {@code not a number from step 31 on}. */
    public String words() {
      String step = new BigDecimal(from).stripTrailingZeros().toPlainString();
      return "not a number " + (toTheEnd ? "from step " + step + " on" : "at step " + step);
    }
  }

  /**
   * Returns the curves of a task by name; empty if its files are not there, or are not on this
   * host.
   */
  public static List<LossCurve> of(RunFolder run, int task) {
    var plan = run.shownPlan();
    String durable = plan.storage().durable();
    Path own = Path.of(durable, "checkpoints", StorageClaims.nameOn(durable, run));
    Path checkpoints = plan.tasks() > 1 ? own.resolve("task_" + task) : own;
    List<LossCurve> curves = ofTrainer(checkpoints);
    return !curves.isEmpty()
        ? curves
        : stores(plan.json(), run, checkpoints).stream()
            .map(LossCurve::ofMlflow)
            .filter(found -> !found.isEmpty())
            .findFirst()
            .orElse(List.of());
  }

  /**
   * Returns a sentence for each loss of a task that was not a number. Never throws, because the
   * sentences only add to another command's output.
   */
  public static List<String> notes(RunFolder run, int task) {
    List<String> notes = new ArrayList<>();
    try {
      for (LossCurve curve : of(run, task)) {
        curve.gap().ifPresent(gap -> notes.add(curve.name() + ": " + gap.words()));
      }
    } catch (RuntimeException unreadable) {
      return List.of();
    }
    return notes;
  }

  private static List<Path> stores(JsonObject plan, RunFolder run, Path checkpoints) {
    Optional<String> set = plan.optionalObject("env").flatMap(env -> env.optionalText(TRACKING));
    if (set.isEmpty()) {
      return List.of(checkpoints.resolve("mlruns"), run.path().resolve("mlruns"));
    }
    String place = set.get().replaceFirst("^file:(//)?", "");
    return place.startsWith("/") && !place.contains("$") ? List.of(Path.of(place)) : List.of();
  }

  /** Returns the curves of the newest trainer_state.json in a folder of checkpoints. */
  static List<LossCurve> ofTrainer(Path checkpoints) {
    for (Path state : states(checkpoints)) {
      Map<String, Growing> curves = new TreeMap<>();
      try (BufferedReader text = Files.newBufferedReader(state)) {
        JsonStream.entries(
            text,
            List.of(HISTORY),
            (path, name, value) -> {
              // The last entry has the mean of the whole training.
              if (value instanceof JsonObject entry
                  && !entry.members().containsKey("train_runtime")) {
                add(entry, curves);
              }
            });
      } catch (IOException | RuntimeException cut) {
        // A training that was killed may leave half a file: the part that was read counts, or an
        // older file.
      }
      if (!curves.isEmpty()) {
        return listed(curves, STATE, state);
      }
    }
    return List.of();
  }

  private static void add(JsonObject entry, Map<String, Growing> curves) {
    if (!(entry.members().get("step") instanceof BigDecimal step)) {
      return;
    }
    for (String name : entry.members().keySet()) {
      if (LOSS.matcher(name).matches()) {
        // The stream reads a bare NaN as null.
        Object value = entry.members().get(name);
        double loss = value instanceof BigDecimal number ? number.doubleValue() : Double.NaN;
        curves.computeIfAbsent(name, key -> new Growing()).add(step.doubleValue(), loss);
      }
    }
  }

  /**
   * Returns the state files, the newest first: the file beside the checkpoints is written at the
   * end.
   */
  private static List<Path> states(Path checkpoints) {
    Stream<Path> ofSteps =
        folders(checkpoints).stream()
            .map(folder -> folder.resolve(STATE))
            .sorted((a, b) -> Long.compare(number(b), number(a)));
    return Stream.concat(Stream.of(checkpoints.resolve(STATE)), ofSteps)
        .filter(Files::isRegularFile)
        .toList();
  }

  private static long number(Path state) {
    Path folder = state.getParent();
    Matcher number = NUMBER.matcher(folder == null ? "" : String.valueOf(folder.getFileName()));
    return number.matches() ? Long.parseLong(number.group(1)) : Long.MAX_VALUE;
  }

  /** Returns the curves of the newest run in a file store: experiment/run/metrics/NAME. */
  static List<LossCurve> ofMlflow(Path store) {
    Optional<Path> newest =
        folders(store).stream()
            .flatMap(experiment -> folders(experiment).stream())
            .map(run -> run.resolve("metrics"))
            .map(metrics -> Map.entry(metrics, changed(metrics)))
            .filter(metrics -> metrics.getValue() > Long.MIN_VALUE)
            .max(Map.Entry.comparingByValue())
            .map(Map.Entry::getKey);
    if (newest.isEmpty()) {
      return List.of();
    }
    Map<String, Growing> curves = new TreeMap<>();
    try (Stream<Path> files = Files.walk(newest.get(), 2)) {
      for (Path file : files.limit(MOST_FOLDERS).toList()) {
        String name = newest.get().relativize(file).toString();
        if (LOSS.matcher(name).matches() && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          curves.put(name, metric(file));
        }
      }
    } catch (IOException unreadable) {
      return List.of();
    }
    curves.values().removeIf(Growing::isEmpty);
    return listed(curves, "mlflow", newest.get());
  }

  /** Reads lines of "milliseconds value step". */
  private static Growing metric(Path file) throws IOException {
    Growing curve = new Growing();
    try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] fields = line.split(" ", -1);
        try {
          if (fields.length == 3) {
            curve.add(Double.parseDouble(fields[2]), number(fields[1]));
          }
        } catch (NumberFormatException half) {
          // A training that was killed may leave half a line.
        }
      }
    }
    return curve;
  }

  /** Reads a value as Python writes it: nan, inf and -inf are not Java's names. */
  private static double number(String text) {
    return text.matches("[+-]?(?i:nan|inf(inity)?)") ? Double.NaN : Double.parseDouble(text);
  }

  private static List<LossCurve> listed(Map<String, Growing> curves, String source, Path file) {
    List<LossCurve> all = new ArrayList<>();
    curves.forEach(
        (name, one) -> all.add(new LossCurve(name, source, file, one.points(), one.gap())));
    return all;
  }

  private static List<Path> folders(Path folder) {
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(Files::isDirectory).sorted().limit(MOST_FOLDERS).toList();
    } catch (IOException none) {
      return List.of();
    }
  }

  private static long changed(Path folder) {
    try {
      return Files.getLastModifiedTime(folder).toMillis();
    } catch (IOException none) {
      return Long.MIN_VALUE;
    }
  }

  /** A curve that grows. */
  private static final class Growing {
    private final Points raw = new Points();
    private final Points smooth = new Points();
    private double mean;
    private double known;
    private double last;
    private double from = Double.NaN;
    private boolean open;

    void add(double step, double loss) {
      if (!Double.isFinite(step)) {
        return;
      }
      last = step;
      if (!Double.isFinite(loss)) {
        from = open ? from : step;
        open = true;
        return;
      }
      open = false;
      mean = WEIGHT * mean + (1 - WEIGHT) * loss;
      known = WEIGHT * known + (1 - WEIGHT);
      raw.add(step, loss);
      // Without the division, a curve would begin at zero.
      smooth.add(step, mean / known);
    }

    boolean isEmpty() {
      return known == 0 && gap().isEmpty();
    }

    Optional<Gap> gap() {
      return Double.isNaN(from) ? Optional.empty() : Optional.of(new Gap(from, open, last));
    }

    List<Point> points() {
      List<Points.Point> losses = raw.toList();
      List<Points.Point> means = smooth.toList();
      return IntStream.range(0, losses.size())
          .mapToObj(i -> new Point(losses.get(i).at(), losses.get(i).value(), means.get(i).value()))
          .toList();
    }
  }
}
