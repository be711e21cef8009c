package dev.nexa.slurm.files;

import java.io.StringWriter;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;

/**
 * JSON text to and from plain values: {@link JsonObject}, List, String, BigDecimal or integers,
 * Boolean, Instant (written as RFC 3339 UTC), null. Keys keep their order, so that the same value
 * is always the same bytes.
 */
public final class Json {
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
          .build();

  private static final int MAX_SCALE = 1000;

  private Json() {}

  /** One line, no spaces: what digests are taken of. */
  public static String compact(@Nullable Object value) {
    StringWriter text = new StringWriter();
    try (JsonGenerator generator = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      write(generator, value);
    }
    return text.toString();
  }

  /** Indented by two, with a newline at the end: what people read. */
  public static String pretty(@Nullable Object value) {
    StringBuilder text = new StringBuilder(512);
    pretty(text, value, "\n");
    return text.append('\n').toString();
  }

  private static void pretty(StringBuilder text, @Nullable Object value, String newline) {
    String inner = newline + "  ";
    String separator = inner;
    if (value instanceof JsonObject object && !object.isEmpty()) {
      text.append('{');
      for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
        text.append(separator).append(compact(member.getKey())).append(": ");
        pretty(text, member.getValue(), inner);
        separator = "," + inner;
      }
      text.append(newline).append('}');
    } else if (value instanceof List<?> list && list.stream().anyMatch(Json::isContainer)) {
      text.append('[');
      for (Object element : list) {
        text.append(separator);
        pretty(text, element, inner);
        separator = "," + inner;
      }
      text.append(newline).append(']');
    } else {
      text.append(compact(value));
    }
  }

  private static boolean isContainer(@Nullable Object value) {
    return value instanceof JsonObject || value instanceof List;
  }

  private static void write(JsonGenerator generator, @Nullable Object value) {
    if (value instanceof JsonObject object) {
      generator.writeStartObject();
      for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
        generator.writeName(member.getKey());
        write(generator, member.getValue());
      }
      generator.writeEndObject();
    } else if (value instanceof List<?> list) {
      generator.writeStartArray();
      for (Object element : list) {
        write(generator, element);
      }
      generator.writeEndArray();
    } else if (value == null) {
      generator.writeNull();
    } else if (value instanceof Boolean flag) {
      generator.writeBoolean(flag);
    } else if (value instanceof BigDecimal decimal) {
      generator.writeNumber(decimal.toPlainString());
    } else if (value instanceof Long || value instanceof Integer) {
      generator.writeNumber(((Number) value).longValue());
    } else if (value instanceof String || value instanceof Instant || value instanceof Enum) {
      generator.writeString(value.toString());
    } else {
      throw new IllegalArgumentException("not a JSON value: " + value.getClass());
    }
  }

  /**
   * Reads one object.
   *
   * @throws IllegalArgumentException if the text is no JSON object, with line and column
   */
  public static JsonObject parseObject(String text) {
    if (parse(text) instanceof JsonObject object) {
      return object;
    }
    throw new IllegalArgumentException("expected a JSON object");
  }

  private static @Nullable Object parse(String text) {
    try (JsonParser parser =
        FACTORY.createParser(tools.jackson.core.ObjectReadContext.empty(), text)) {
      Object value = read(parser, parser.nextToken());
      if (parser.nextToken() != null) {
        throw new IllegalArgumentException("text after the end of the JSON value");
      }
      return value;
    } catch (JacksonException broken) {
      throw new IllegalArgumentException("not JSON: " + broken.getOriginalMessage(), broken);
    }
  }

  /** Written out again, {@code 1e999999999} would be a gigabyte of zeros. */
  private static BigDecimal number(String text) {
    BigDecimal number = new BigDecimal(text);
    if (Math.abs((long) number.scale()) > MAX_SCALE) {
      throw new IllegalArgumentException("a number of more than " + MAX_SCALE + " digits");
    }
    return number;
  }

  private static @Nullable Object read(JsonParser parser, @Nullable JsonToken token) {
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
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser.getString());
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw new IllegalArgumentException("unexpected " + token);
    };
  }
}
