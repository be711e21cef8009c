package dev.nexa.slurm.files;

import java.io.Reader;
import java.util.List;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/**
 * A document of other people's that is too large to hold: one long list of objects, handed on one
 * by one. It may name a key twice or hold NaN; the last value counts, and NaN is null.
 */
public final class JsonStream {
  private static final JsonFactory FACTORY =
      JsonFactory.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private JsonStream() {}

  /**
   * Reads the document: an object, one member of which is the list, or the list itself; or several
   * of them, one behind the other.
   *
   * @param member the list's name
   * @param elements told of each element, and of the line it begins in; one that is no object is
   *     empty
   * @return the other members, and the list's name with an empty list; empty where the document is
   *     the list
   * @throws IllegalArgumentException if it is not JSON or is cut short, with the line; what came
   *     before has been handed on
   */
  public static JsonObject read(Reader text, String member, ObjIntConsumer<JsonObject> elements) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      JsonObject others = new JsonObject();
      try {
        for (JsonToken first = parser.nextToken(); first != null; first = parser.nextToken()) {
          if (first == JsonToken.START_ARRAY) {
            list(parser, elements);
          } else if (first == JsonToken.START_OBJECT) {
            members(parser, member, elements, others);
          } else {
            throw new IllegalArgumentException("expected a JSON object or list");
          }
        }
      } catch (JacksonException broken) {
        throw at(parser, broken.getOriginalMessage(), broken);
      } catch (IllegalArgumentException broken) {
        throw at(parser, broken.getMessage(), broken);
      }
      return others;
    }
  }

  private static IllegalArgumentException at(
      JsonParser parser, @Nullable String message, RuntimeException cause) {
    return new IllegalArgumentException(
        "line "
            + parser.currentLocation().getLineNr()
            + ": "
            // Jackson goes on with where it would show the source, were it allowed to.
            + (message == null ? "" : message.split(" \\(start marker", 2)[0]),
        cause);
  }

  private static void members(
      JsonParser parser, String member, ObjIntConsumer<JsonObject> elements, JsonObject others) {
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

  private static void list(JsonParser parser, ObjIntConsumer<JsonObject> elements) {
    for (JsonToken token = parser.nextToken();
        token != JsonToken.END_ARRAY;
        token = parser.nextToken()) {
      int line = parser.currentTokenLocation().getLineNr();
      Object element = Json.read(parser, token);
      elements.accept(element instanceof JsonObject object ? object : new JsonObject(), line);
    }
  }
}
