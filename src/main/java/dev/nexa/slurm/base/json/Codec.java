package dev.nexa.slurm.base.json;

import dev.nexa.slurm.base.units.Money;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Converts between records and JSON objects. No other class reads records by reflection.
 *
 * <p>Each component of a record is a member, in the order of the record. The member has the
 * component's name in snake case, or its {@link Key}. An empty Optional has no member. An enum is
 * its name in lower case, Money its plain amount in the document's currency, a Duration its seconds
 * with three decimals, and a record of one component is that component.
 *
 * <p>Unknown members are ignored. A value that cannot be read throws the IllegalArgumentException
 * of {@link JsonObject}, or the exception of a record's constructor.
 */
public final class Codec {
  /** Names a component's member. The first annotation of a process takes 10 ms. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.RECORD_COMPONENT)
  public @interface Key {
    /** The member's name. */
    String value();
  }

  /** Leaves out the member of an empty list and of false, and reads them from a missing member. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.RECORD_COMPONENT)
  public @interface IfAny {}

  /**
   * A record whose members appear directly in the object of the record around it. An optional flat
   * record exists if its first member exists.
   */
  public interface Flat {}

  /** Marks a record whose empty Optionals are written as null. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.TYPE)
  public @interface WithNulls {}

  private final String currency;

  private Codec(String currency) {
    this.currency = currency;
  }

  /** Returns the object of a record. */
  public static JsonObject write(Record record) {
    return write(record, new JsonObject());
  }

  /** Adds the members of a record to an object, and returns the object. */
  public static JsonObject write(Record record, JsonObject json) {
    for (RecordComponent component : record.getClass().getRecordComponents()) {
      Object value = value(component, record);
      boolean isLeftOut =
          (List.of().equals(value) || Boolean.FALSE.equals(value))
              && component.isAnnotationPresent(IfAny.class);
      if (value instanceof Optional<?> optional) {
        value = optional.orElse(null);
        isLeftOut = value == null && !record.getClass().isAnnotationPresent(WithNulls.class);
      }
      if (value instanceof Flat && toJson(value) instanceof JsonObject members) {
        members.members().forEach(json::with);
      } else if (!isLeftOut) {
        json.with(key(component), toJson(value));
      }
    }
    return json;
  }

  private static @Nullable Object toJson(@Nullable Object value) {
    if (value instanceof Money money) {
      return money.amount().toPlainString();
    }
    if (value instanceof Duration duration) {
      return BigDecimal.valueOf(duration.toMillis(), 3);
    }
    if (value instanceof Record record) {
      RecordComponent[] components = record.getClass().getRecordComponents();
      return components.length == 1 ? toJson(value(components[0], record)) : write(record);
    }
    if (value instanceof Enum<?> constant) {
      return word(constant);
    }
    if (value instanceof List<?> list) {
      List<@Nullable Object> elements = new ArrayList<>(list.size());
      list.forEach(element -> elements.add(toJson(element)));
      return elements;
    }
    if (value instanceof Map<?, ?> map) {
      JsonObject json = new JsonObject();
      map.forEach((name, element) -> json.with(String.valueOf(toJson(name)), toJson(element)));
      return json;
    }
    return value instanceof Path || value instanceof YearMonth ? value.toString() : value;
  }

  /** Reads a record from its object. The currency of Money is the member {@code currency}. */
  public static <R> R read(JsonObject json, Class<R> type) {
    return type.cast(new Codec(json.optionalText("currency").orElse("")).record(json, type));
  }

  private Object record(JsonObject json, Class<?> type) {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] values = new Object[components.length];
    for (int i = 0; i < values.length; i++) {
      RecordComponent component = components[i];
      types[i] = component.getType();
      String key = key(component);
      if (!json.members().containsKey(key) && component.isAnnotationPresent(IfAny.class)) {
        values[i] = types[i] == boolean.class ? (Object) false : List.of();
      } else {
        values[i] = member(json, key, component.getGenericType());
      }
    }
    return make(type, types, values);
  }

  private Object member(JsonObject json, String key, Type type) {
    if (type instanceof ParameterizedType generic) {
      Type[] of = generic.getActualTypeArguments();
      if (generic.getRawType() == Optional.class) {
        return isThere(json, key, of[0]) ? Optional.of(member(json, key, of[0])) : Optional.empty();
      }
      return generic.getRawType() == List.class
          ? list(json, key, of[0])
          : map(json.object(key), of);
    }
    Class<?> plain = (Class<?>) type;
    if (plain == Money.class) {
      return Money.parse(json.text(key), currency);
    }
    if (isObject(plain)) {
      return record(isFlat(plain) ? json : json.object(key), plain);
    }
    if (plain.isRecord()) {
      RecordComponent only = plain.getRecordComponents()[0];
      Object value =
          isFlat(plain) && only.getGenericType() instanceof ParameterizedType map
              ? map(json, map.getActualTypeArguments())
              : member(json, key, only.getGenericType());
      return make(plain, new Class<?>[] {only.getType()}, new Object[] {value});
    }
    return plain.isEnum() ? constant(json.text(key), key, plain) : scalar(json, key, plain);
  }

  /** As in JsonObject, a member that should be an object and is none does not exist. */
  private static boolean isThere(JsonObject json, String key, Type type) {
    if (isFlat(type)) {
      return json.members().get(key(((Class<?>) type).getRecordComponents()[0])) != null;
    }
    Object value = json.members().get(key);
    return value instanceof JsonObject
        || (value != null && type != JsonObject.class && !isObject(type));
  }

  private static boolean isFlat(Type type) {
    return type instanceof Class<?> plain && Flat.class.isAssignableFrom(plain);
  }

  private static boolean isObject(Type type) {
    return type instanceof Class<?> plain
        && plain.isRecord()
        && plain != Money.class
        && plain.getRecordComponents().length > 1;
  }

  private Object list(JsonObject json, String key, Type of) {
    if (isObject(of)) {
      return json.objects(key).stream().map(one -> record(one, (Class<?>) of)).toList();
    }
    return List.copyOf(of == JsonObject.class ? json.objects(key) : json.texts(key));
  }

  /** Reads a map. If its keys are enums, unknown names are ignored. */
  private Object map(JsonObject members, Type[] of) {
    Map<Object, Object> map = new LinkedHashMap<>();
    Class<?> names = (Class<?>) of[0];
    for (String name : members.members().keySet()) {
      Optional<Object> key = names.isEnum() ? find(name, names) : Optional.of(name);
      key.ifPresent(found -> map.put(found, member(members, name, of[1])));
    }
    return map;
  }

  private static Optional<Object> find(String word, Class<?> type) {
    return Arrays.stream((Object[]) type.getEnumConstants())
        .filter(constant -> word((Enum<?>) constant).equals(word))
        .findFirst();
  }

  private static Object constant(String word, String key, Class<?> type) {
    return find(word, type)
        .orElseThrow(
            () ->
                JsonObject.wrong(
                    key,
                    Arrays.stream((Object[]) type.getEnumConstants())
                        .map(constant -> '"' + word((Enum<?>) constant) + '"')
                        .collect(Collectors.joining(" or "))));
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static Object scalar(JsonObject json, String key, Class<?> type) {
    return switch (type.getSimpleName()) {
      case "String" -> json.text(key);
      case "int", "Integer" -> Math.toIntExact(json.number(key));
      case "long", "Long" -> json.number(key);
      case "boolean", "Boolean" -> json.flag(key);
      case "BigDecimal" -> json.decimal(key);
      case "Instant" -> json.instant(key);
      case "Duration" -> Duration.ofMillis(json.decimal(key).movePointRight(3).longValue());
      case "YearMonth" -> YearMonth.parse(json.text(key));
      case "Path" -> Path.of(json.text(key));
      case "JsonObject" -> json.object(key);
      default -> throw new IllegalArgumentException("no member can be a " + type);
    };
  }

  private static String key(RecordComponent component) {
    Key key = component.getAnnotation(Key.class);
    return key != null
        ? key.value()
        : component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  private static Object value(RecordComponent component, Record record) {
    Method accessor = component.getAccessor();
    accessor.setAccessible(true);
    try {
      return accessor.invoke(record);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static Object make(Class<?> type, Class<?>[] types, Object[] values) {
    try {
      Constructor<?> canonical = type.getDeclaredConstructor(types);
      canonical.setAccessible(true);
      return canonical.newInstance(values);
    } catch (InvocationTargetException refused) {
      throw refused.getCause() instanceof RuntimeException reason
          ? reason
          : new IllegalStateException(refused);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
