package dev.nexa.slurm.files;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object whose members keep their order. Reading a member that is missing or of another type
 * says so by name.
 */
public final class JsonObject {
  private final Map<String, @Nullable Object> members;

  public JsonObject() {
    this(new LinkedHashMap<>());
  }

  JsonObject(Map<String, @Nullable Object> members) {
    this.members = members;
  }

  /**
   * Adds or replaces a member and returns this: {@code new JsonObject().with("a", 1).with("b", 2)}.
   */
  public JsonObject with(String name, @Nullable Object value) {
    members.put(name, value);
    return this;
  }

  /** Adds the member only where there is a value. */
  public JsonObject withOptional(String name, Optional<?> value) {
    if (value.isPresent()) {
      members.put(name, value.get());
    }
    return this;
  }

  public Map<String, @Nullable Object> members() {
    return Collections.unmodifiableMap(members);
  }

  public boolean isEmpty() {
    return members.isEmpty();
  }

  public String text(String name) {
    return required(optionalText(name), name, "a string");
  }

  /** The string, or empty where the member is missing or null. */
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

  public Instant instant(String name) {
    try {
      return Instant.parse(text(name));
    } catch (DateTimeException notATime) {
      throw wrong(name, "a time such as 2025-11-01T14:32:00Z");
    }
  }

  public long number(String name) {
    try {
      return decimal(name).longValueExact();
    } catch (ArithmeticException fraction) {
      throw wrong(name, "a whole number");
    }
  }

  public BigDecimal decimal(String name) {
    return required(optionalDecimal(name), name, "a number");
  }

  /** The number, or empty where the member is missing or null. */
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

  /** The object, or empty where the member is missing or null. */
  public Optional<JsonObject> optionalObject(String name) {
    return members.get(name) instanceof JsonObject object ? Optional.of(object) : Optional.empty();
  }

  /** The list's strings. */
  public List<String> texts(String name) {
    return list(name, String.class, "a list of strings");
  }

  /** The list's objects. */
  public List<JsonObject> objects(String name) {
    return list(name, JsonObject.class, "a list of objects");
  }

  private static <T> T required(Optional<T> value, String name, String expected) {
    if (value.isEmpty()) {
      throw wrong(name, expected);
    }
    return value.get();
  }

  private <T> List<T> list(String name, Class<T> type, String expected) {
    if (!(members.get(name) instanceof List<?> list)) {
      throw wrong(name, expected);
    }
    List<T> elements = new ArrayList<>(list.size());
    for (Object element : list) {
      if (!type.isInstance(element)) {
        throw wrong(name, expected);
      }
      elements.add(type.cast(element));
    }
    return elements;
  }

  private static IllegalArgumentException wrong(String name, String expected) {
    return new IllegalArgumentException("expected " + expected + " under \"" + name + "\"");
  }

  @Override
  public String toString() {
    return Json.compact(this);
  }
}
