package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A checked mapping. Every value has the type that its {@link ValueType} gives, and a position.
 *
 * <p>A getter whose name begins with "optional" returns empty if the key is missing. The getter
 * without that prefix throws a {@link NoSuchElementException}. Durations are from {@link
 * ValueType#TIME} or {@link ValueType#LENGTH}, sizes in bytes from {@link ValueType#MEMORY}.
 */
public final class Values {
  /** The value of an empty key among a runner's own options. */
  static final Object NOTHING = new Object();

  private final String path;
  private final Position at;
  private final List<Problem> problems;
  private final Map<String, Object> values = new LinkedHashMap<>();
  private final Map<String, Position> positions = new LinkedHashMap<>();
  private final Set<String> defaults = new HashSet<>();

  /**
   * Creates an empty mapping.
   *
   * @param problems the problems of its file, which {@link #report} adds to
   */
  Values(String path, Position at, List<Problem> problems) {
    this.path = path;
    this.at = at;
    this.problems = problems;
  }

  void put(String key, Object value, Position position) {
    values.put(key, value);
    positions.put(key, position);
  }

  /** Puts a value that was not written; it has the position of the mapping. */
  void putDefault(String key, Object value) {
    put(key, value, at);
    defaults.add(key);
  }

  /** Notes where a value is that is wrong and has a problem. */
  void putWrong(String key, Position position) {
    positions.put(key, position);
  }

  /** Returns whether the key was written with a wrong value, which has a problem already. */
  public boolean isWrong(String key) {
    return positions.containsKey(key) && !values.containsKey(key);
  }

  /** Returns the problems of the file so far; {@link #report} adds to them. */
  public List<Problem> problems() {
    return problems;
  }

  /** Returns whether the mapping has a valid value for the key, written or by default. */
  public boolean has(String key) {
    return values.containsKey(key);
  }

  /** Returns whether the key has its default value. */
  public boolean isDefault(String key) {
    return defaults.contains(key);
  }

  /** Returns the key's position; the mapping's position if the key was not written. */
  public Position at(String key) {
    return positions.getOrDefault(key, at);
  }

  /** Returns the position of each key, by its whole path. */
  public Map<String, Position> positions() {
    Map<String, Position> all = new LinkedHashMap<>();
    for (Map.Entry<String, Position> entry : positions.entrySet()) {
      String key = entry.getKey();
      all.put(YamlNode.child(path, key), entry.getValue());
      if (values.get(key) instanceof Values below) {
        all.putAll(below.positions());
      } else if (values.get(key) instanceof List<?> list) {
        for (Object element : list) {
          if (element instanceof Values below) {
            all.put(below.path, below.at);
            all.putAll(below.positions());
          }
        }
      }
    }
    return all;
  }

  /**
   * Returns a copy with the values of a sweep's point over these. The position of such a value is
   * its position in the sweep. The copy has problems of its own.
   */
  public Values at(JsonObject point, Values sweep) {
    Values merged = new Values(path, at, new ArrayList<>());
    merged.values.putAll(values);
    merged.positions.putAll(positions);
    merged.defaults.addAll(defaults);
    merged.defaults.removeAll(point.members().keySet());
    for (String key : point.members().keySet()) {
      merged.values.put(key, point.members().get(key));
      merged.positions.put(key, sweep.at(key));
    }
    return merged;
  }

  /** Returns a problem at the key's position. */
  public Problem problem(String key, String message) {
    String place = path.isEmpty() || key.isEmpty() ? path + key : path + "." + key;
    return new Problem(ErrorCode.CONFIG_CONFLICT, at(key), place, message);
  }

  /** Adds a problem at the key's position. */
  public void report(String key, String message) {
    problems.add(problem(key, message));
  }

  /**
   * Adds a problem if the path is relative: the job starts in its run's folder, where a relative
   * path would name another file.
   */
  public void requireAbsolute(String key) {
    String path = optionalText(key).orElse("/");
    if (!path.startsWith("/") && !path.startsWith("${")) {
      String begin = "'; begin it with ${workspace}/ or ${env:HOME}/";
      report(key, "expected an absolute path, got '" + path + begin);
    }
  }

  /** Returns the keys, in the order of the file. */
  public List<String> names() {
    return List.copyOf(values.keySet());
  }

  public String text(String key) {
    return required(key, String.class);
  }

  /** Returns the mappings of a list; empty if the key is missing. */
  public List<Values> sections(String key) {
    return elements(key, Values.class);
  }

  public Optional<String> optionalText(String key) {
    return optional(key, String.class);
  }

  public int integer(String key) {
    return required(key, Integer.class);
  }

  public Optional<Integer> optionalInteger(String key) {
    return optional(key, Integer.class);
  }

  public boolean flag(String key) {
    return required(key, Boolean.class);
  }

  public BigDecimal decimal(String key) {
    return required(key, BigDecimal.class);
  }

  public Optional<BigDecimal> optionalDecimal(String key) {
    return optional(key, BigDecimal.class);
  }

  public Duration duration(String key) {
    return required(key, Duration.class);
  }

  public Optional<Duration> optionalDuration(String key) {
    return optional(key, Duration.class);
  }

  public Optional<Long> optionalBytes(String key) {
    return optional(key, Long.class);
  }

  /**
   * Returns the key's value.
   *
   * @throws NoSuchElementException if the key is missing
   * @throws ClassCastException if the value has another type
   */
  public <T> T required(String key, Class<T> type) {
    Object value = values.get(key);
    if (value == null) {
      throw new NoSuchElementException(path + "." + key);
    }
    return type.cast(value);
  }

  /**
   * Returns the key's value; empty if the key is missing.
   *
   * @throws ClassCastException if the value has another type
   */
  public <T> Optional<T> optional(String key, Class<T> type) {
    return Optional.ofNullable(type.cast(values.get(key)));
  }

  /** Returns the mapping under the key; an empty one if the key is missing. */
  public Values section(String key) {
    return values.get(key) instanceof Values below
        ? below
        : new Values(YamlNode.child(path, key), at, problems);
  }

  /** Returns the mapping as a JSON object. */
  public JsonObject json() {
    JsonObject json = new JsonObject();
    values.forEach((key, value) -> json.with(key, json(value)));
    return json;
  }

  private static @Nullable Object json(Object value) {
    if (value instanceof Values below) {
      return below.json();
    }
    if (value == NOTHING) {
      return null;
    }
    if (!(value instanceof List<?> list)) {
      return value;
    }
    List<@Nullable Object> elements = new ArrayList<>();
    list.forEach(element -> elements.add(json(element)));
    return elements;
  }

  /** Returns the texts of a list; empty if the key is missing. */
  public List<String> texts(String key) {
    return elements(key, String.class);
  }

  private <T> List<T> elements(String key, Class<T> type) {
    List<T> elements = new ArrayList<>();
    for (Object element : optional(key, List.class).orElse(List.of())) {
      elements.add(type.cast(element));
    }
    return elements;
  }

  /** Returns a mapping of names to texts; empty if the key is missing. */
  public Map<String, String> textMap(String key) {
    Map<String, String> texts = new LinkedHashMap<>();
    Values section = section(key);
    section.names().forEach(name -> texts.put(name, section.text(name)));
    return texts;
  }
}
