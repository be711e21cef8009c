package dev.nexa.slurm.base.json;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object whose members keep their order.
 *
 * <p>A getter throws an IllegalArgumentException that names the member if its value has another
 * type. A getter without "optional" in its name also throws if the member is missing or null.
 */
public final class JsonObject {
  private final Map<String, @Nullable Object> members;

  public JsonObject() {
    this(new LinkedHashMap<>());
  }

  JsonObject(Map<String, @Nullable Object> members) {
    this.members = members;
  }

  /** Returns a document that begins with the version of its schema. */
  public static JsonObject ofVersion(int schemaVersion) {
    return new JsonObject().with("schema_version", schemaVersion);
  }

  /**
   * Adds or replaces a member and returns this object: {@code new JsonObject().with("a",
   * 1).with("b", 2)}.
   */
  public JsonObject with(String name, @Nullable Object value) {
    members.put(name, value);
    return this;
  }

  /** Adds or replaces all members of another object, and returns this object. */
  public JsonObject with(JsonObject more) {
    members.putAll(more.members);
    return this;
  }

  /** Adds the member if the value is present, and returns this object. */
  public JsonObject withOptional(String name, Optional<?> value) {
    value.ifPresent(given -> members.put(name, given));
    return this;
  }

  /** Adds {@code values} unless there are none. */
  public JsonObject withUnlessEmpty(String name, Collection<?> values) {
    return values.isEmpty() ? this : with(name, values);
  }

  /** Adds {@code text} unless it is empty. */
  public JsonObject withUnlessEmpty(String name, String text) {
    return text.isEmpty() ? this : with(name, text);
  }

  /** A copy that lacks {@code names}. */
  public JsonObject without(String... names) {
    Map<String, @Nullable Object> rest = new LinkedHashMap<>(members);
    rest.keySet().removeAll(List.of(names));
    return new JsonObject(rest);
  }

  /** Returns an unmodifiable view of the members, in order. */
  public Map<String, @Nullable Object> members() {
    return Collections.unmodifiableMap(members);
  }

  public boolean isEmpty() {
    return members.isEmpty();
  }

  public String text(String name) {
    return required(optionalText(name), name, "a string");
  }

  /** Returns the string, or empty if the member is missing or null. */
  public Optional<String> optionalText(String name) {
    Object value = members.get(name);
    if (value == null) {
      return Optional.empty();
    }
    if (value instanceof String || value instanceof Enum || value instanceof Instant) {
      return Optional.of(value.toString());
    }
    throw wrong(name, "a string");
  }

  /** Returns the time of a string such as {@code 2025-11-01T14:32:00Z}. */
  public Instant instant(String name) {
    try {
      return Instant.parse(text(name));
    } catch (DateTimeException notATime) {
      throw wrong(name, "a time such as 2025-11-01T14:32:00Z");
    }
  }

  /** Returns the time, or empty if the member is missing or null. */
  public Optional<Instant> optionalInstant(String name) {
    return members.get(name) == null ? Optional.empty() : Optional.of(instant(name));
  }

  /** Returns the number, which must be whole and fit a long. */
  public long number(String name) {
    try {
      return decimal(name).longValueExact();
    } catch (ArithmeticException fraction) {
      throw wrong(name, "a whole number");
    }
  }

  /** Returns the whole number, or empty if the member is missing or null. */
  public Optional<Long> optionalNumber(String name) {
    return members.get(name) == null ? Optional.empty() : Optional.of(number(name));
  }

  public BigDecimal decimal(String name) {
    return required(optionalDecimal(name), name, "a number");
  }

  /** Returns the number, or empty if the member is missing or null. */
  public Optional<BigDecimal> optionalDecimal(String name) {
    Object value = members.get(name);
    if (value == null) {
      return Optional.empty();
    }
    if (value instanceof BigDecimal decimal) {
      return Optional.of(decimal);
    }
    if (value instanceof Number number) {
      return Optional.of(BigDecimal.valueOf(number.longValue()));
    }
    throw wrong(name, "a number");
  }

  public boolean flag(String name) {
    if (members.get(name) instanceof Boolean flag) {
      return flag;
    }
    throw wrong(name, "true or false");
  }

  public JsonObject object(String name) {
    return required(optionalObject(name), name, "an object");
  }

  /** Returns the object, or empty if the member is missing, null or not an object. */
  public Optional<JsonObject> optionalObject(String name) {
    return members.get(name) instanceof JsonObject object ? Optional.of(object) : Optional.empty();
  }

  /** Returns a list whose elements are all strings. */
  public List<String> texts(String name) {
    return list(name, String.class, "a list of strings");
  }

  /** Returns a list whose elements are all objects. */
  public List<JsonObject> objects(String name) {
    return list(name, JsonObject.class, "a list of objects");
  }

  private static <T> T required(Optional<T> value, String name, String expected) {
    return value.orElseThrow(() -> wrong(name, expected));
  }

  private <T> List<T> list(String name, Class<T> type, String expected) {
    if (!(members.get(name) instanceof List<?> list) || !list.stream().allMatch(type::isInstance)) {
      throw wrong(name, expected);
    }
    return list.stream().<T>map(type::cast).toList();
  }

  static IllegalArgumentException wrong(String name, String expected) {
    return new IllegalArgumentException("expected " + expected + " under \"" + name + "\"");
  }

  @Override
  public String toString() {
    return Json.compact(this);
  }
}
