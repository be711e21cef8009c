package dev.nexa.slurm.job.config.yaml;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The shape of the value under a key. */
public sealed interface Schema
    permits ValueType,
        Schema.ListOf,
        Schema.MapOf,
        Schema.Section,
        Schema.Later,
        Schema.Free,
        Schema.Anything,
        Schema.Axis {

  /** A list whose elements have one shape. */
  record ListOf(Schema element) implements Schema {}

  /**
   * A mapping whose names the user chooses.
   *
   * @param name the form of a name
   * @param value the shape of every value
   */
  record MapOf(ValueType name, Schema value) implements Schema {}

  /** A mapping whose keys and values another program checks. */
  record Free() implements Schema {}

  /** Any value; another program checks it. */
  record Anything() implements Schema {}

  /**
   * The values of one key that a sweep tries: a list, or for a number a range {@code {min, max,
   * scale}}.
   */
  record Axis(Schema element) implements Schema {
    /** Returns the shape of a range; empty if the key's values are not numbers. */
    public Optional<Section> range() {
      if (element instanceof Anything) {
        return Optional.of(range(ValueType.DECIMAL_NUMBER));
      }
      return element instanceof ValueType type && type.isNumber()
          ? Optional.of(range(type))
          : Optional.empty();
    }

    private static Section range(ValueType type) {
      return section(
          required("min", type, "The least value, of `random`."),
          required("max", type, "The greatest value."),
          optional(
              "scale",
              ValueType.choice("linear", "log"),
              "`log` draws 1e-6 to 1e-5 as often as 1e-5 to 1e-4."));
    }
  }

  /**
   * A mapping with known keys. {@link Values} keeps them in the order of the file.
   *
   * @param others the form of further keys; empty if there may be none
   */
  record Section(List<KnownKey> keys, Optional<MapOf> others) implements Schema {
    public Section {
      keys = List.copyOf(keys);
    }

    boolean takes(String name) {
      return others.isPresent() && Pattern.matches(others.get().name().pattern(), name);
    }
  }

  /**
   * A section without required keys and defaults, whose classes are loaded only if a file has it.
   *
   * @param section returns the section
   */
  record Later(Supplier<Section> section) implements Schema {}

  /**
   * A known key.
   *
   * @param name the key as written
   * @param shape the shape of its value
   * @param required whether the key is required
   * @param inferable whether a required key may be missing from the file, because it follows from
   *     other keys or from a cluster profile
   * @param fallback the default value in YAML; an empty text for none
   * @param doc one sentence for the reference page and editors
   */
  record KnownKey(
      String name, Schema shape, boolean required, boolean inferable, String fallback, String doc) {

    /** Returns the shape; never {@link Later}. */
    @Override
    public Schema shape() {
      return shape instanceof Later later ? later.section().get() : shape;
    }

    /** Returns whether the key's shape is known only when a file has the key. */
    boolean isLater() {
      return shape instanceof Later;
    }

    /** Returns an optional key without a default, with the same name, shape and sentence. */
    public KnownKey asOptional() {
      return optional(name, shape, doc);
    }
  }

  /** Returns a required key. */
  static KnownKey required(String name, Schema shape, String doc) {
    return new KnownKey(name, shape, true, false, "", doc);
  }

  /**
   * Returns a required key that the file itself may lack, because it can follow from other keys or
   * from a cluster profile.
   */
  static KnownKey inferable(String name, Schema shape, String doc) {
    return new KnownKey(name, shape, true, true, "", doc);
  }

  /** Returns an optional key without a default. */
  static KnownKey optional(String name, Schema shape, String doc) {
    return new KnownKey(name, shape, false, false, "", doc);
  }

  /** Returns an optional key with a default, written as in YAML. */
  static KnownKey withDefault(String name, Schema shape, String fallback, String doc) {
    return new KnownKey(name, shape, false, false, fallback, doc);
  }

  /** Returns an optional key whose section is loaded only if a file has it. */
  static KnownKey later(String name, Supplier<Section> section, String doc) {
    return optional(name, new Later(section), doc);
  }

  static ListOf listOf(Schema element) {
    return new ListOf(element);
  }

  static MapOf mapOf(ValueType name, Schema value) {
    return new MapOf(name, value);
  }

  static Section section(KnownKey... keys) {
    return new Section(List.of(keys), Optional.empty());
  }
}
