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

  /** Told of a member of an object, or of an element of a list, that was asked for. */
  public interface Entries {
    /**
     * One of them.
     *
     * @param path of the object or the list
     * @param name of the member; empty for an element
     */
    void accept(String path, String name, @Nullable Object value);
  }

  /**
   * Reads an object that holds large objects or lists below it, and hands on what is in those that
   * were asked for, one by one; other objects and lists are passed over.
   *
   * @param paths of those: {@code terms/OnDemand}
   * @return the texts, numbers and truth values beside them, by path
   * @throws IllegalArgumentException if it is not JSON or is cut short, with the line
   */
  public static JsonObject entries(Reader text, List<String> paths, Entries entries) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      JsonObject others = new JsonObject();
      try {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
          throw new IllegalArgumentException("expected a JSON object");
        }
        walk(parser, "", paths, entries, others);
      } catch (JacksonException broken) {
        throw at(parser, broken.getOriginalMessage(), broken);
      } catch (IllegalArgumentException broken) {
        throw at(parser, broken.getMessage(), broken);
      }
      return others;
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
        for (JsonToken one = parser.nextToken();
            one != JsonToken.END_ARRAY;
            one = parser.nextToken()) {
          entries.accept(path, "", Json.read(parser, one));
        }
      } else if (token == JsonToken.START_OBJECT && leads(path + "/", paths)) {
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

  private static boolean leads(String prefix, List<String> paths) {
    for (String path : paths) {
      if (path.startsWith(prefix)) {
        return true;
      }
    }
    return false;
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
