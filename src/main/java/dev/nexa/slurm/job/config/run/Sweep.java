package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema.Anything;
import dev.nexa.slurm.job.config.yaml.Schema.Axis;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.MapOf;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The key {@code sweep}: one task for each point. A point gives values to some keys.
 *
 * <pre>
 * sweep: {lr: [1e-5, 2e-5], seed: [1, 2, 3]}                      # grid: 6 points, the last key fastest
 * sweep: {method: zip, lr: [1e-5, 2e-5], batch_size: [4, 8]}      # 2 points
 * sweep: {method: list, points: [{lr: 1e-5}, {lr: 1e-4, seed: 2}]}
 * sweep: {method: random, samples: 20, random_seed: 7, lr: {min: 1e-6, max: 1e-3, scale: log}}
 * </pre>
 *
 * <p>A point is a JSON object of training keys and {@code options.NAME}, in the order of the
 * config.
 */
public record Sweep(Values sweep) {
  static final int MAX_POINTS = 10_000;

  /** Prefix of a key that sets one of the runner's own options. */
  public static final String OPTIONS = "options.";

  private static final Set<String> OWN = Set.of("method", "points", "samples", "random_seed");
  private static final ValueType OPTION =
      ValueType.text("options.NAME", "options\\.[^.]+(\\.[^.]+){0,20}");

  static final Section SPEC = spec();

  private static Section spec() {
    List<KnownKey> axes = new ArrayList<>();
    axes.add(
        optional(
            "method",
            ValueType.choice("grid", "zip", "list", "random"),
            "`grid`, the default, is every combination, the last key fastest; `zip` takes the first value of"
                + " each list, then the second; `list` takes `points`; `random` draws values."));
    List<KnownKey> values = new ArrayList<>();
    for (KnownKey key : Training.KEYS.keys()) {
      values.add(key);
      axes.add(optional(key.name(), new Axis(key.shape()), "Values of " + key.name() + " to try."));
    }
    Section point = new Section(values, Optional.of(new MapOf(OPTION, new Anything())));
    axes.add(
        optional("points", listOf(point), "For `list`: the points, each a mapping of values."));
    axes.add(
        optional(
            "samples", ValueType.integer(1, MAX_POINTS), "For `random`: the number of points."));
    axes.add(
        optional(
            "random_seed",
            ValueType.integer(0, 2_000_000_000),
            "For `random`: the seed. The same seed always draws the same points. Default: 0."));
    return new Section(axes, Optional.of(new MapOf(OPTION, new Axis(new Anything()))));
  }

  /**
   * Returns the points, in the order of the tasks. Adds a problem for each error; the list is empty
   * if the points cannot be made.
   */
  static List<JsonObject> points(Values sweep) {
    return new Sweep(sweep).points();
  }

  /** Returns the section that contains a point's values. */
  static Values where(Values sweep, int point) {
    return sweep.has("points") ? sweep.sections("points").get(point) : sweep;
  }

  private List<JsonObject> points() {
    String method = sweep.optionalText("method").orElse("grid");
    List<String> axes = new ArrayList<>(sweep.names());
    axes.removeAll(OWN);
    List<JsonObject> points =
        fits(method, axes)
            ? switch (method) {
              case "zip" -> zip(axes);
              case "list" -> listed();
              case "random" -> random(axes);
              default -> grid(axes);
            }
            : List.of();
    distinct(points);
    variables(points);
    return points;
  }

  /** Checks that the keys fit the method. */
  private boolean fits(String method, List<String> axes) {
    int before = sweep.problems().size();
    if (method.equals("list")) {
      axes.forEach(axis -> problem(axis, "method: list takes its values from points"));
    } else if (sweep.has("points")) {
      problem("points", "needs method: list");
    } else if (axes.isEmpty()) {
      problem("", "names no values to try, such as lr: [1e-5, 2e-5]");
    }
    boolean random = method.equals("random");
    for (String key : List.of("samples", "random_seed")) {
      if (sweep.has(key) && !random) {
        problem(key, "needs method: random");
      }
    }
    if (random && !sweep.has("samples")) {
      problem("", "method: random needs samples: how many points");
    }
    for (String axis : axes) {
      if (!random && sweep.required(axis, Object.class) instanceof Values) {
        problem(axis, "a range needs method: random; " + method + " takes a list");
      }
    }
    return sweep.problems().size() == before;
  }

  private List<JsonObject> grid(List<String> axes) {
    long size = 1;
    for (String axis : axes) {
      size = Math.min(size * values(axis).size(), MAX_POINTS + 1L);
    }
    if (size > MAX_POINTS) {
      problem("", "has more than " + MAX_POINTS + " points; try fewer values, or method: random");
      return List.of();
    }
    List<JsonObject> points = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      JsonObject point = new JsonObject();
      long below = size;
      for (String axis : axes) {
        List<?> values = values(axis);
        below /= values.size();
        point.with(axis, json(values.get((int) (i / below % values.size()))));
      }
      points.add(point);
    }
    return points;
  }

  private List<JsonObject> zip(List<String> axes) {
    int size = values(axes.get(0)).size();
    for (String axis : axes) {
      int own = values(axis).size();
      if (own != size) {
        problem(axis, "has " + own + " values, but " + axes.get(0) + " has " + size);
        return List.of();
      }
    }
    if (size > MAX_POINTS) {
      problem("", "has more than " + MAX_POINTS + " points");
      return List.of();
    }
    List<JsonObject> points = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      JsonObject point = new JsonObject();
      for (String axis : axes) {
        point.with(axis, json(values(axis).get(i)));
      }
      points.add(point);
    }
    return points;
  }

  private List<JsonObject> listed() {
    List<JsonObject> points = sweep.sections("points").stream().map(Values::json).toList();
    if (points.isEmpty() || points.size() > MAX_POINTS) {
      problem("points", "expected 1 to " + MAX_POINTS + " of them, got " + points.size());
      return List.of();
    }
    return points;
  }

  /**
   * Draws until it has the requested number of different points. Gives up after about 100 draws for
   * each point.
   */
  private List<JsonObject> random(List<String> axes) {
    int samples = sweep.integer("samples");
    int seed = sweep.optionalInteger("random_seed").orElse(0);
    Map<String, RandomAxis> draws = new LinkedHashMap<>();
    for (String axis : axes) {
      Object what = sweep.required(axis, Object.class);
      RandomAxis draw =
          what instanceof Values range ? RandomAxis.of(range) : RandomAxis.of(values(axis));
      if (draw.isEmpty()) {
        problem(axis, "expected min below max, and above 0 where scale: log");
        return List.of();
      }
      draws.put(axis, draw);
    }
    Map<String, JsonObject> points = new LinkedHashMap<>();
    for (int i = 0; points.size() < samples && i < 100 * samples + 1000; i++) {
      JsonObject point = new JsonObject();
      int at = i;
      draws.forEach((key, draw) -> point.with(key, json(draw.at(seed, at, key))));
      points.putIfAbsent(identity(point), point);
    }
    if (points.size() < samples) {
      problem("samples", "only " + points.size() + " different points were drawn; ask for fewer");
    }
    return List.copyOf(points.values());
  }

  private void distinct(List<JsonObject> points) {
    Map<String, Integer> seen = new TreeMap<>();
    for (int i = 0; i < points.size(); i++) {
      Integer earlier = seen.putIfAbsent(identity(points.get(i)), i);
      if (earlier != null) {
        problem("", "points " + earlier + " and " + i + " (from 0) are the same: " + points.get(i));
        return;
      }
    }
  }

  /** Adds a problem if two keys have the same variable in the job. */
  private void variables(List<JsonObject> points) {
    Map<String, String> keys = new TreeMap<>();
    for (JsonObject point : points) {
      for (String key : point.members().keySet()) {
        String other = keys.putIfAbsent(variable(key), key);
        if (other != null && !other.equals(key)) {
          problem("", other + " and " + key + " would both be " + variable(key));
          return;
        }
      }
    }
  }

  /** Returns the name of the job's variable that holds a key's value. */
  public static String variable(String key) {
    String name = key.startsWith(OPTIONS) ? key.substring(OPTIONS.length()) : key;
    return "NEXA_SWEEP_" + name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_");
  }

  /** Returns a text that is equal for equal points: 1e-5 is 0.00001. */
  private static String identity(JsonObject point) {
    JsonObject plain = new JsonObject();
    for (String key : new TreeMap<>(point.members()).keySet()) {
      Object value = point.members().get(key);
      plain.with(key, value instanceof BigDecimal number ? number.stripTrailingZeros() : value);
    }
    return plain.toString();
  }

  private List<?> values(String axis) {
    return sweep.required(axis, List.class);
  }

  private static Object json(Object value) {
    return value instanceof Values below ? below.json() : value;
  }

  private void problem(String key, String message) {
    Position at = key.isEmpty() ? sweep.at("method") : sweep.at(key);
    sweep.problems().add(new Problem(at, key.isEmpty() ? "sweep" : "sweep." + key, message));
  }
}
