package dev.nexa.slurm.base.json;

import java.io.Reader;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/**
 * Reads a document of another program that is too large for memory, element by element.
 *
 * <p>Accepts two things that {@link Json} refuses or cannot read: of a key that occurs twice, the
 * last value counts, and a bare NaN is read as null.
 */
public final class JsonStream {
  private static final JsonFactory FACTORY =
      JsonFactory.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private JsonStream() {}

  /**
   * Reads a list of objects. The document is the list itself or an object with the list as a
   * member. Several such values may follow each other.
   *
   * @param member the list's name
   * @param elements receives each element with the number of its first line; an element that is not
   *     an object is passed as an empty object
   * @return the object's other members, and {@code member} with an empty list; empty if the
   *     document is the list itself
   * @throws IllegalArgumentException if the text is not JSON or is cut short; the message names the
   *     line. Elements before that line have been passed on.
   */
  public static JsonObject read(Reader text, String member, ObjIntConsumer<JsonObject> elements) {
    JsonObject others = new JsonObject();
    ObjIntConsumer<Object> each =
        (element, line) ->
            elements.accept(element instanceof JsonObject object ? object : new JsonObject(), line);
    parse(
        text,
        parser -> {
          for (JsonToken first = parser.nextToken(); first != null; first = parser.nextToken()) {
            if (first == JsonToken.START_ARRAY) {
              list(parser, each);
            } else if (first == JsonToken.START_OBJECT) {
              members(parser, member, each, others);
            } else {
              throw new IllegalArgumentException("expected a JSON object or list");
            }
          }
        });
    return others;
  }

  /** Receives the members of the requested objects and the elements of the requested lists. */
  public interface Entries {
    /**
     * Receives one member or element.
     *
     * @param path the path of the object or list
     * @param name the member's name; empty for an element of a list
     * @param value the member's or the element's value
     */
    void accept(String path, String name, @Nullable Object value);
  }

  /**
   * Reads an object with large objects or lists below it. The consumer gets each member or element
   * of the requested ones. The others are skipped.
   *
   * @param paths of the requested objects and lists, such as {@code terms/OnDemand}
   * @return the strings, numbers, booleans and nulls outside the requested and skipped parts, by
   *     path
   * @throws IllegalArgumentException if the text is not JSON or is cut short; the message names the
   *     line
   */
  public static JsonObject entries(Reader text, List<String> paths, Entries entries) {
    JsonObject others = new JsonObject();
    parse(
        text,
        parser -> {
          if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw new IllegalArgumentException("expected a JSON object");
          }
          walk(parser, "", paths, entries, others);
        });
    return others;
  }

  private static void parse(Reader text, Consumer<JsonParser> reading) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      try {
        reading.accept(parser);
      } catch (JacksonException broken) {
        throw at(parser, broken.getOriginalMessage(), broken);
      } catch (IllegalArgumentException broken) {
        throw at(parser, broken.getMessage(), broken);
      }
    }
  }

  private static void walk(
      JsonParser parser, String above, List<String> paths, Entries entries, JsonObject others) {
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      JsonToken token = parser.nextToken();
      String path = above + name;
      if (paths.contains(path) && token == JsonToken.START_OBJECT) {
        for (String inner = parser.nextName(); inner != null; inner = parser.nextName()) {
          entries.accept(path, inner, Json.read(parser, parser.nextToken()));
        }
      } else if (paths.contains(path) && token == JsonToken.START_ARRAY) {
        list(parser, (one, line) -> entries.accept(path, "", one));
      } else if (token == JsonToken.START_OBJECT
          && paths.stream().anyMatch(wanted -> wanted.startsWith(path + "/"))) {
        walk(parser, path + "/", paths, entries, others);
      } else if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
        parser.skipChildren();
      } else {
        others.with(path, Json.read(parser, token));
      }
    }
    if (parser.currentToken() != JsonToken.END_OBJECT) {
      throw new IllegalArgumentException("the document is cut short");
    }
  }

  private static IllegalArgumentException at(
      JsonParser parser, @Nullable String message, RuntimeException cause) {
    return new IllegalArgumentException(
        "line "
            + parser.currentLocation().getLineNr()
            + ": "
            // Jackson's message continues with a source excerpt, which is disabled.
            + (message == null ? "" : message.split(" \\(start marker", 2)[0]),
        cause);
  }

  private static void members(
      JsonParser parser, String member, ObjIntConsumer<Object> elements, JsonObject others) {
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      JsonToken token = parser.nextToken();
      if (name.equals(member) && token == JsonToken.START_ARRAY) {
        list(parser, elements);
        others.with(member, List.of());
      } else {
        others.with(name, Json.read(parser, token));
      }
    }
    if (parser.currentToken() != JsonToken.END_OBJECT) {
      throw new IllegalArgumentException("the document is cut short");
    }
  }

  private static void list(JsonParser parser, ObjIntConsumer<Object> elements) {
    for (JsonToken token = parser.nextToken();
        token != JsonToken.END_ARRAY;
        token = parser.nextToken()) {
      int line = parser.currentTokenLocation().getLineNr();
      elements.accept(Json.read(parser, token), line);
    }
  }
}
