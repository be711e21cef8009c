package dev.nexa.slurm.config;

import dev.nexa.slurm.files.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * A checked mapping: every value has the type its {@link ValueType} gives, and knows where it was
 * written.
 */
final class Values {
  private final String path;
  private final Position at;
  private final Map<String, Object> values = new LinkedHashMap<>();
  private final Map<String, Position> positions = new LinkedHashMap<>();

  Values(String path, Position at) {
    this.path = path;
    this.at = at;
  }

  void put(String key, Object value, Position position) {
    values.put(key, value);
    positions.put(key, position);
  }

  boolean has(String key) {
    return values.containsKey(key);
  }

  /** Where the key was written, or the mapping where it was not. */
  Position at(String key) {
    return positions.getOrDefault(key, at);
  }

  /** Where each key below was written, by its whole path. */
  Map<String, Position> positions() {
    Map<String, Position> all = new LinkedHashMap<>();
    for (Map.Entry<String, Position> entry : positions.entrySet()) {
      String key = entry.getKey();
      all.put(path.isEmpty() ? key : path + "." + key, entry.getValue());
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

  /** These with a sweep's point over them; each of its values stands where the sweep has it. */
  Values at(JsonObject point, Values sweep) {
    Values merged = new Values(path, at);
    merged.values.putAll(values);
    merged.positions.putAll(positions);
    for (String key : point.members().keySet()) {
      merged.values.put(key, point.members().get(key));
      merged.positions.put(key, sweep.at(key));
    }
    return merged;
  }

  Problem problem(String key, String message) {
    String place = path.isEmpty() || key.isEmpty() ? path + key : path + "." + key;
    return new Problem(at(key), place, message);
  }

  /** The job starts in its run's folder, so a relative path would mean something else there. */
  void requireAbsolute(String key, List<Problem> problems) {
    String path = optionalText(key).orElse("/");
    if (!path.startsWith("/") && !path.startsWith("${")) {
      String begin = "'; begin it with ${workspace}/ or ${env:HOME}/";
      problems.add(problem(key, "expected an absolute path, got '" + path + begin));
    }
  }

  List<String> names() {
    return List.copyOf(values.keySet());
  }

  String text(String key) {
    return required(key, String.class);
  }

  /** The mappings of a list. */
  List<Values> sections(String key) {
    List<Values> sections = new ArrayList<>();
    for (Object element : optional(key, List.class).orElse(List.of())) {
      sections.add((Values) element);
    }
    return sections;
  }

  Optional<String> optionalText(String key) {
    return optional(key, String.class);
  }

  int integer(String key) {
    return required(key, Integer.class);
  }

  Optional<Integer> optionalInteger(String key) {
    return optional(key, Integer.class);
  }

  boolean flag(String key) {
    return required(key, Boolean.class);
  }

  BigDecimal decimal(String key) {
    return required(key, BigDecimal.class);
  }

  Optional<BigDecimal> optionalDecimal(String key) {
    return optional(key, BigDecimal.class);
  }

  Duration duration(String key) {
    return required(key, Duration.class);
  }

  Optional<Duration> optionalDuration(String key) {
    return optional(key, Duration.class);
  }

  Optional<Long> optionalBytes(String key) {
    return optional(key, Long.class);
  }

  <T> T required(String key, Class<T> type) {
    Object value = values.get(key);
    if (value == null) {
      throw new NoSuchElementException(path + "." + key);
    }
    return type.cast(value);
  }

  <T> Optional<T> optional(String key, Class<T> type) {
    return Optional.ofNullable(type.cast(values.get(key)));
  }

  /** The mapping under the key; an empty one where there is none. */
  Values section(String key) {
    return values.get(key) instanceof Values below
        ? below
        : new Values(path.isEmpty() ? key : path + "." + key, at);
  }

  /** The whole mapping as JSON would hold it. */
  JsonObject json() {
    JsonObject json = new JsonObject();
    for (Map.Entry<String, Object> entry : values.entrySet()) {
      json.with(entry.getKey(), json(entry.getValue()));
    }
    return json;
  }

  private static Object json(Object value) {
    if (value instanceof Values below) {
      return below.json();
    }
    if (!(value instanceof List<?> list)) {
      return value;
    }
    List<Object> elements = new ArrayList<>();
    for (Object element : list) {
      elements.add(json(element));
    }
    return elements;
  }

  List<String> texts(String key) {
    List<String> texts = new ArrayList<>();
    for (Object element : optional(key, List.class).orElse(List.of())) {
      texts.add((String) element);
    }
    return texts;
  }

  /** A mapping of names to text. */
  Map<String, String> textMap(String key) {
    Map<String, String> texts = new LinkedHashMap<>();
    Values section = section(key);
    for (String name : section.names()) {
      texts.put(name, section.text(name));
    }
    return texts;
  }
}
