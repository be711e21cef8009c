package dev.nexa.slurm.job.config;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.foreign.NexaCompute;
import dev.nexa.slurm.job.config.foreign.SkyPilotPrices;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.FailurePatterns;
import dev.nexa.slurm.job.config.site.GpuCatalog;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.Anything;
import dev.nexa.slurm.job.config.yaml.Schema.Axis;
import dev.nexa.slurm.job.config.yaml.Schema.Free;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.ListOf;
import dev.nexa.slurm.job.config.yaml.Schema.MapOf;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.YamlNode.ScalarType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Every place of every kind of file where a person can write a scalar or a name of their own, found
 * by walking the tables of keys: a new key is among them by itself.
 */
public final class ConfigSlots {
  /** What is harmless, unlike anything else, and told again where it arrived. */
  public static final String MARKER = "m4rker";

  /** Forms in which text can be right: a name, a path, an image, a sweep's key. */
  private static final List<String> MARKERS =
      List.of(
          MARKER, "/" + MARKER, "docker://" + MARKER, "options." + MARKER, "gpu:" + MARKER + ":1");

  /** Of these, one is right for every type; a new type may need another. */
  private static final List<Object> SAMPLES =
      List.of(
          "s4mple", "/s4mple", true, 1, "USD", "options.x", "550.54", "7B", "END", "2026-11-01");

  /** Of each type, some are right: what a walk over all keys tries. */
  private static final List<Object> VALUES =
      List.of(
          true,
          false,
          1,
          2,
          3,
          5,
          100,
          "2h",
          "3h",
          "20s",
          "32G",
          "64G",
          "7B",
          "13B",
          "n2",
          "/s4mple",
          "s4mple",
          "sample2",
          "END",
          "FAIL",
          "matlab:2",
          "https://s.example",
          "STANDARD_IA",
          "50M",
          "oom",
          "options.x",
          "a@example.org");

  private final List<Slot> slots = new ArrayList<>();
  private final String kind;

  /** The kinds of file. */
  public static final List<String> KINDS =
      List.of("run", "cluster", "prices", "skypilot", "policy", "gpus", "nexa_compute");

  /**
   * One place.
   *
   * @param kind of file
   * @param path the key path; a name of the user's choice is {@code *}
   * @param key the last key of ours on the path, which a refusal names
   * @param markers harmless texts that may stand there; none where no text may
   * @param values some values of the key's type, of any kind
   */
  public record Slot(
      String kind, String path, String key, List<String> markers, List<Object> values, Put put) {
    Slot(String kind, String path, String key, List<String> markers, Put put) {
      this(kind, path, key, markers, List.copyOf(markers), put);
    }

    /** The document with the value there; what must stand beside it is added. */
    public JsonObject in(JsonObject document, Object value) {
      return (JsonObject) put.into(document, value);
    }

    @Override
    public String toString() {
      return kind + " " + path;
    }
  }

  /** Puts a value into what is there. */
  @FunctionalInterface
  public interface Put {
    Object into(@Nullable Object old, Object value);
  }

  private ConfigSlots(String kind) {
    this.kind = kind;
  }

  /** All places of a kind of file. */
  public static List<Slot> of(String kind) {
    ConfigSlots walk = new ConfigSlots(kind);
    walk.section(spec(kind), "", put -> put);
    return walk.slots;
  }

  private static Section spec(String kind) {
    return switch (kind) {
      case "run" -> RunConfig.SPEC;
      case "cluster" -> ClusterProfile.SPEC;
      case "prices" -> PriceBook.SPEC;
      case "skypilot" -> SkyPilotPrices.SPEC;
      case "policy" -> Policy.SPEC;
      case "gpus" -> GpuCatalog.SPEC;
      case "failures" -> FailurePatterns.SPEC;
      case "nexa_compute" -> NexaCompute.SPEC;
      default -> throw new IllegalArgumentException(kind);
    };
  }

  /** Where a node lies: makes of what sets the node what sets the document. */
  @FunctionalInterface
  private interface Place {
    Put around(Put inner);
  }

  private void section(Section section, String path, Place place) {
    for (KnownKey key : section.keys()) {
      shape(
          key.shape(),
          child(path, key.name()),
          key.name(),
          inner -> place.around(member(section, key.name(), inner)));
    }
    if (section.others().isPresent()) {
      named(
          section.others().get(),
          path,
          last(path),
          inner -> place.around((old, value) -> inner.into(filled(section, old), value)),
          true);
    }
  }

  private void shape(Schema shape, String path, String key, Place place) {
    if (shape instanceof ValueType type) {
      List<String> markers = new ArrayList<>();
      for (String marker : MARKERS) {
        if (fits(type, marker)) {
          markers.add(marker);
        }
      }
      List<Object> values = new ArrayList<>(type.choices());
      VALUES.stream().filter(value -> fits(type, value)).forEach(values::add);
      slots.add(new Slot(kind, path, key, markers, values, place.around((old, value) -> value)));
    } else if (shape instanceof Section section) {
      section(section, path, place);
    } else if (shape instanceof ListOf list) {
      shape(
          list.element(),
          path + "[]",
          key,
          inner -> place.around((old, value) -> List.of(inner.into(first(old), value))));
    } else if (shape instanceof Axis axis) {
      shape(
          axis.element(),
          path + "[]",
          key,
          inner -> place.around((old, value) -> List.of(inner.into(first(old), value))));
    } else if (shape instanceof MapOf map) {
      named(map, path, key, place, false);
    } else if (shape instanceof Free) {
      slots.add(new Slot(kind, path + ".*", key, MARKERS, place.around(ConfigSlots::firstText)));
      slots.add(
          new Slot(
              kind,
              path + ".* (name)",
              key,
              MARKERS,
              place.around((old, value) -> new JsonObject().with((String) value, "x"))));
    } else if (shape instanceof Anything) {
      slots.add(new Slot(kind, path, key, MARKERS, place.around((old, value) -> value)));
    } else {
      throw new AssertionError("a new shape: " + shape);
    }
  }

  private void named(MapOf map, String path, String key, Place place, boolean beside) {
    String sample = (String) sample(map.name());
    shape(
        map.value(),
        path + ".*",
        key,
        inner ->
            place.around(
                (old, value) -> {
                  JsonObject object = object(old);
                  // What stands there already has what rules between keys ask for.
                  String name =
                      beside || first(old) == null
                          ? sample
                          : object.members().keySet().iterator().next();
                  return object.with(name, inner.into(object.members().get(name), value));
                }));
    List<String> markers = new ArrayList<>();
    for (String marker : MARKERS) {
      if (fits(map.name(), marker)) {
        markers.add(marker);
      }
    }
    slots.add(
        new Slot(
            kind,
            path + ".* (name)",
            key,
            markers,
            place.around(
                (old, told) -> {
                  Object like = first(old);
                  return object(old)
                      .with((String) told, beside || like == null ? sample(map.value()) : like);
                })));
  }

  /** The first value of what may be a list or a mapping of names; null where there is none. */
  private static @Nullable Object first(@Nullable Object old) {
    if (old instanceof JsonObject object && !object.isEmpty()) {
      return object.members().values().iterator().next();
    }
    return old instanceof List<?> list && !list.isEmpty() ? list.get(0) : null;
  }

  private static Put member(Section section, String name, Put inner) {
    return (old, value) -> {
      JsonObject object = filled(section, old);
      return object.with(name, inner.into(object.members().get(name), value));
    };
  }

  private static JsonObject filled(Section section, @Nullable Object old) {
    JsonObject object = object(old);
    for (KnownKey key : section.keys()) {
      if (key.required() && !object.members().containsKey(key.name())) {
        object.with(key.name(), sample(key.shape()));
      }
    }
    return object;
  }

  private static JsonObject object(@Nullable Object old) {
    return old instanceof JsonObject object ? object : new JsonObject();
  }

  /** A runner may know only some names: the first that has a text already gets the value. */
  private static Object firstText(@Nullable Object old, Object value) {
    JsonObject options = object(old);
    for (String name : List.copyOf(options.members().keySet())) {
      if (options.members().get(name) instanceof String) {
        return options.with(name, value);
      }
    }
    return options.with("option", value);
  }

  private static Object sample(Schema shape) {
    if (shape instanceof ValueType type) {
      if (!type.choices().isEmpty()) {
        return type.choices().get(0);
      }
      for (Object sample : SAMPLES) {
        if (fits(type, sample)) {
          return sample;
        }
      }
      throw new AssertionError("no sample is " + type.expected() + ": add one");
    }
    if (shape instanceof Section section) {
      return filled(section, null);
    }
    if (shape instanceof ListOf list) {
      return List.of(sample(list.element()));
    }
    if (shape instanceof Axis axis) {
      return List.of(sample(axis.element()));
    }
    if (shape instanceof MapOf map) {
      return new JsonObject().with((String) sample(map.name()), sample(map.value()));
    }
    return shape instanceof Free ? new JsonObject() : "x";
  }

  private static boolean fits(ValueType type, Object sample) {
    ScalarType as =
        sample instanceof String
            ? ScalarType.STRING
            : sample instanceof Boolean ? ScalarType.BOOLEAN : ScalarType.NUMBER;
    if (!type.accepts().contains(as)) {
      return false;
    }
    try {
      type.parse(sample.toString());
      return true;
    } catch (IllegalArgumentException wrong) {
      return false;
    }
  }

  private static String child(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  private static String last(String path) {
    return path.substring(path.lastIndexOf('.') + 1);
  }
}
