package dev.nexa.slurm.base.json;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.io.JsonStringEncoder;
import tools.jackson.core.json.JsonFactory;

/**
 * Converts between JSON text and plain values.
 *
 * <p>The values are {@link JsonObject}, List, String, BigDecimal, Integer, Long, Boolean and null.
 * Enums and Instants are written as strings, an Instant as RFC 3339 in UTC. Members keep their
 * order, so equal values give equal bytes.
 */
public final class Json {
  private static final JsonFactory FACTORY =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private static final int MAX_SCALE = 1000;

  private Json() {}

  /** Returns the value on one line, without spaces. Digests are taken of this form. */
  public static String compact(@Nullable Object value) {
    StringBuilder text = new StringBuilder(512);
    write(text, value);
    return text.toString();
  }

  /**
   * Returns the value indented by two spaces, with a newline at the end.
   *
   * <p>A list that holds objects or lists has one element a line; the elements themselves are not
   * split.
   */
  public static String pretty(@Nullable Object value) {
    StringBuilder text = new StringBuilder(2048);
    pretty(text, value, "\n");
    return text.append('\n').toString();
  }

  private static void pretty(StringBuilder text, @Nullable Object value, String newline) {
    String inner = newline + "  ";
    String separator = inner;
    if (value instanceof JsonObject object && !object.isEmpty()) {
      text.append('{');
      for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
        string(text.append(separator), member.getKey());
        pretty(text.append(": "), member.getValue(), inner);
        separator = "," + inner;
      }
      text.append(newline).append('}');
    } else if (value instanceof List<?> list && holdsContainer(list)) {
      text.append('[');
      for (Object element : list) {
        write(text.append(separator), element);
        separator = "," + inner;
      }
      text.append(newline).append(']');
    } else {
      write(text, value);
    }
  }

  private static boolean holdsContainer(List<?> list) {
    return list.stream().anyMatch(one -> one instanceof JsonObject || one instanceof List);
  }

  private static void write(StringBuilder text, @Nullable Object value) {
    String separator = "";
    if (value instanceof JsonObject object) {
      text.append('{');
      for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
        string(text.append(separator), member.getKey());
        write(text.append(':'), member.getValue());
        separator = ",";
      }
      text.append('}');
    } else if (value instanceof List<?> list) {
      text.append('[');
      for (Object element : list) {
        write(text.append(separator), element);
        separator = ",";
      }
      text.append(']');
    } else if (value instanceof BigDecimal decimal) {
      text.append(decimal.toPlainString());
    } else if (value == null
        || value instanceof Boolean
        || value instanceof Long
        || value instanceof Integer) {
      text.append(value);
    } else if (value instanceof String || value instanceof Instant || value instanceof Enum) {
      string(text, value.toString());
    } else {
      throw new IllegalArgumentException("not a JSON value: " + value.getClass());
    }
  }

  private static void string(StringBuilder text, String value) {
    text.append('"');
    JsonStringEncoder.getInstance().quoteAsString(value, text);
    text.append('"');
  }

  /**
   * Parses one JSON object. Numbers become BigDecimals.
   *
   * @throws IllegalArgumentException if the text is not a JSON object, names a member twice, or has
   *     a number with an exponent or a fraction of more than 1000 digits
   */
  public static JsonObject parseObject(String text) {
    try (JsonParser parser =
        FACTORY.createParser(tools.jackson.core.ObjectReadContext.empty(), text)) {
      Object value = read(parser, parser.nextToken());
      if (parser.nextToken() != null) {
        throw new IllegalArgumentException("text after the end of the JSON value");
      }
      if (value instanceof JsonObject object) {
        return object;
      }
    } catch (JacksonException broken) {
      throw new IllegalArgumentException("not JSON: " + broken.getOriginalMessage(), broken);
    }
    throw new IllegalArgumentException("expected a JSON object");
  }

  /**
   * Parses a number. Refuses huge exponents, because 1e999999999 written as plain digits is a
   * gigabyte.
   */
  private static BigDecimal number(String text) {
    BigDecimal number = new BigDecimal(text);
    if (Math.abs((long) number.scale()) > MAX_SCALE) {
      throw new IllegalArgumentException("a number of more than " + MAX_SCALE + " digits");
    }
    return number;
  }

  /**
   * Reads the value that begins at a token.
   *
   * @throws IllegalArgumentException if the value is cut short
   */
  static @Nullable Object read(JsonParser parser, @Nullable JsonToken token) {
    if (token == null) {
      throw new IllegalArgumentException("the JSON value is empty or cut short");
    }
    return switch (token) {
      case START_OBJECT -> {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
          members.put(name, read(parser, parser.nextToken()));
        }
        yield new JsonObject(members);
      }
      case START_ARRAY -> {
        List<@Nullable Object> elements = new ArrayList<>();
        for (JsonToken next = parser.nextToken();
            next != JsonToken.END_ARRAY;
            next = parser.nextToken()) {
          elements.add(read(parser, next));
        }
        yield elements;
      }
      case VALUE_STRING -> parser.getString();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
          parser.isNaN() ? null : number(parser.getString());
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw new IllegalArgumentException("unexpected " + token);
    };
  }
}
