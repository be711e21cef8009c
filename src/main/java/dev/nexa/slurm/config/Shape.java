package dev.nexa.slurm.config;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** What may stand under a key. */
sealed interface Shape
    permits ValueType,
        Shape.ListOf,
        Shape.MapOf,
        Shape.Section,
        Shape.Free,
        Shape.Anything,
        Shape.Axis {

  /** A list of like elements. */
  record ListOf(Shape element) implements Shape {}

  /** A mapping with names of the user's choice, each of the given form. */
  record MapOf(ValueType name, Shape value) implements Shape {}

  /** A mapping whose keys and values are somebody else's to check. */
  record Free() implements Shape {}

  /** Any value, somebody else's to check. */
  record Anything() implements Shape {}

  /** What a sweep tries of one key: a list, or of a number {@code {min, max, scale}}. */
  record Axis(Shape element) implements Shape {}

  /**
   * A mapping with known keys, which {@link Values} keeps in the order of the file.
   *
   * @param others what further keys may be; empty where there may be none
   */
  record Section(List<KnownKey> keys, Optional<MapOf> others) implements Shape {
    public Section {
      keys = List.copyOf(keys);
    }

    boolean takes(String name) {
      return others.isPresent() && Pattern.matches(others.get().name().pattern(), name);
    }
  }

  /**
   * A known key.
   *
   * @param name as written
   * @param shape what may stand under it
   * @param presence whether it must be there
   * @param fallback the value in YAML where it is not there; empty for none
   * @param doc one sentence for the reference page and the editor
   */
  record KnownKey(String name, Shape shape, Presence presence, String fallback, String doc) {}

  /** Whether a key must be there. */
  enum Presence {
    REQUIRED,
    OPTIONAL
  }

  static KnownKey required(String name, Shape shape, String doc) {
    return new KnownKey(name, shape, Presence.REQUIRED, "", doc);
  }

  static KnownKey optional(String name, Shape shape, String doc) {
    return new KnownKey(name, shape, Presence.OPTIONAL, "", doc);
  }

  /** A key with a default, written as in YAML. */
  static KnownKey withDefault(String name, Shape shape, String fallback, String doc) {
    return new KnownKey(name, shape, Presence.OPTIONAL, fallback, doc);
  }

  static ListOf listOf(Shape element) {
    return new ListOf(element);
  }

  static MapOf mapOf(ValueType name, Shape value) {
    return new MapOf(name, value);
  }

  static Section section(KnownKey... keys) {
    return new Section(List.of(keys), Optional.empty());
  }
}
