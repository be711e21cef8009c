package dev.nexa.slurm.config;

import java.util.List;
import java.util.Map;

/** YAML as it was written: every node knows its place, and a scalar keeps its own text. */
sealed interface YamlNode {
  Position at();

  /** A mapping; keys are unique and in the order of the file. */
  record Mapping(Position at, Map<String, Entry> entries) implements YamlNode {}

  /** One key of a mapping. */
  record Entry(Position keyAt, YamlNode value) {}

  /** A list. */
  record Sequence(Position at, List<YamlNode> elements) implements YamlNode {}

  /** A scalar with its text as written (without quotes) and what YAML 1.2 takes it for. */
  record Scalar(Position at, String text, ScalarType type) implements YamlNode {}

  /** YAML 1.2 core's scalar types; {@code no}, {@code on} and {@code 12:30:00} are strings. */
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

  /** What the node is, for an error message. */
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

  /** The beginning of a text that a message tells. */
  static String shortened(String text) {
    String begin = text.length() <= 200 ? text : text.substring(0, 197) + "...";
    return begin.replace("\n", "\\n");
  }
}
