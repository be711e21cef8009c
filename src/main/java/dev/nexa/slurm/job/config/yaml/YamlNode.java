package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Secrets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A YAML tree that keeps the file's form: every node has its position, and a scalar keeps its text.
 */
public sealed interface YamlNode {
  Position at();

  /** A mapping. Keys are unique and in the order of the file. */
  record Mapping(Position at, Map<String, Entry> entries) implements YamlNode {}

  /** One key of a mapping. */
  record Entry(Position keyAt, YamlNode value) {}

  /** A list. */
  record Sequence(Position at, List<YamlNode> elements) implements YamlNode {}

  /** A scalar: its text without quotes, and its type in YAML 1.2. */
  record Scalar(Position at, String text, ScalarType type) implements YamlNode {}

  /**
   * The scalar types of YAML 1.2's core schema. In it, {@code no}, {@code on} and {@code 12:30:00}
   * are strings.
   */
  enum ScalarType {
    STRING("text"),
    NUMBER("a number"),
    BOOLEAN("true or false"),
    NULL("nothing");

    final String words;

    ScalarType(String words) {
      this.words = words;
    }
  }

  /** Returns the value of a key; null if the node is no mapping, or lacks the key. */
  default @Nullable YamlNode value(String key) {
    Entry entry = this instanceof Mapping mapping ? mapping.entries.get(key) : null;
    return entry == null ? null : entry.value;
  }

  /** Returns all scalars below the node, in order; the node itself if it is one. */
  default Stream<Scalar> scalars() {
    if (this instanceof Scalar scalar) {
      return Stream.of(scalar);
    }
    return this instanceof Sequence list
        ? list.elements.stream().flatMap(YamlNode::scalars)
        : ((Mapping) this).entries.values().stream().flatMap(entry -> entry.value.scalars());
  }

  /** Returns a copy whose scalars have changed texts. */
  default YamlNode withTexts(UnaryOperator<String> changed) {
    if (this instanceof Scalar scalar) {
      return new Scalar(scalar.at, changed.apply(scalar.text), scalar.type);
    }
    if (this instanceof Sequence list) {
      return new Sequence(
          list.at, list.elements.stream().map(element -> element.withTexts(changed)).toList());
    }
    Map<String, Entry> entries = new LinkedHashMap<>(((Mapping) this).entries);
    entries.replaceAll((key, old) -> new Entry(old.keyAt, old.value.withTexts(changed)));
    return new Mapping(at(), entries);
  }

  /**
   * Returns the tree as JSON values: objects, lists, texts, numbers, booleans and null.
   *
   * @param number returns the value of a number's text
   */
  default @Nullable Object json(Function<String, Object> number) {
    if (this instanceof Mapping mapping) {
      JsonObject object = new JsonObject();
      mapping.entries.forEach((name, entry) -> object.with(name, entry.value.json(number)));
      return object;
    }
    if (this instanceof Sequence list) {
      return list.elements.stream().map(element -> element.json(number)).toList();
    }
    Scalar scalar = (Scalar) this;
    return switch (scalar.type) {
      case NULL -> null;
      case BOOLEAN -> scalar.text.equals("true");
      case NUMBER -> number.apply(scalar.text);
      case STRING -> scalar.text;
    };
  }

  /** Returns the path of a key in a section, whose own path is empty for a whole file. */
  static String child(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /** Returns a description of the node, for error messages. */
  default String words() {
    if (this instanceof Mapping) {
      return "a mapping";
    }
    if (this instanceof Sequence) {
      return "a list";
    }
    Scalar scalar = (Scalar) this;
    return scalar.type == ScalarType.NULL
        ? "nothing"
        : scalar.type.words + " '" + shortened(scalar.text) + "'";
  }

  /**
   * Returns the text of a list of words: {@code [python, train.py]} is one command, and a list
   * whose entries hold blanks has a command on each line. Empty for all else.
   */
  default Optional<String> asText() {
    if (!(this instanceof Sequence list)
        || list.elements.isEmpty()
        || !list.elements.stream().allMatch(Scalar.class::isInstance)) {
      return Optional.empty();
    }
    List<String> words = list.elements.stream().map(one -> ((Scalar) one).text).toList();
    boolean lines = words.stream().anyMatch(word -> word.matches("(?s).*\\s.*"));
    return Optional.of(String.join(lines ? "\n" : " ", words));
  }

  /** Returns what to write for a text that was written as a list. */
  static String written(String key, String text) {
    return text.contains("\n")
        ? ": write each command on a line of its own below " + key + ": |"
        : ": write " + key + ": " + shown(text);
  }

  /** Returns the beginning of a text for messages, but nothing of a secret. */
  static String shown(String text) {
    return Secrets.inText(text).isPresent() ? "…" : shortened(text);
  }

  /** Returns the beginning of a text on one line, for messages. */
  static String shortened(String text) {
    String begin = text.length() <= 200 ? text : text.substring(0, 197) + "...";
    return begin.replace("\n", "\\n");
  }
}
