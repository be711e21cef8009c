package dev.nexa.slurm.config;

import dev.nexa.slurm.config.YamlNode.Entry;
import dev.nexa.slurm.config.YamlNode.Mapping;
import dev.nexa.slurm.config.YamlNode.Scalar;
import dev.nexa.slurm.config.YamlNode.ScalarType;
import dev.nexa.slurm.config.YamlNode.Sequence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLParser;
import tools.jackson.dataformat.yaml.YAMLReadFeature;
import tools.jackson.dataformat.yaml.YAMLSchema;

/**
 * YAML 1.2 (core schema) to {@link YamlNode}, from Jackson's tokens. What Jackson 3 lets pass in
 * silence is a problem here: duplicate keys, aliases, merge keys, tags, a second document.
 */
final class YamlReader {
  /** A name may be as long as a file: what it stands for says what is wrong with it. */
  private static final StreamReadConstraints NAMES =
      StreamReadConstraints.builder().maxNameLength(2 * ConfigSource.MAX_BYTES).build();

  private static final YAMLFactory FACTORY =
      YAMLFactory.builder()
          .streamReadConstraints(NAMES)
          .yamlSchema(YAMLSchema.CORE)
          .disable(YAMLReadFeature.PARSE_OCTAL_NUMBERS)
          .build();
  static final int MAX_DEPTH = 20;

  private final String source;
  private final List<Problem> problems;
  private final YAMLParser parser;

  private YamlReader(String source, String text, List<Problem> problems) {
    this.source = source;
    this.problems = problems;
    this.parser = (YAMLParser) FACTORY.createParser(ObjectReadContext.empty(), text);
  }

  /** The document's node; empty where the text is no YAML or holds nothing. */
  static Optional<YamlNode> read(String source, String text, List<Problem> problems) {
    Optional<Problem> unprintable = unprintable(source, text);
    if (unprintable.isPresent()) {
      problems.add(unprintable.get());
      return Optional.empty();
    }
    YamlReader reader = new YamlReader(source, text, problems);
    try {
      return reader.document();
    } catch (JacksonException broken) {
      problems.add(reader.syntaxError(broken));
      return Optional.empty();
    } finally {
      reader.parser.close();
    }
  }

  /** One value as somebody wrote it outside a file: a default, or {@code --set key=value}. */
  static YamlNode scalar(Position at, String text) {
    List<Problem> problems = new ArrayList<>();
    Scalar asItIs = new Scalar(at, text, ScalarType.STRING);
    try {
      YamlNode node = read("", text, problems).orElse(asItIs);
      return problems.isEmpty() ? moved(node, at) : asItIs;
    } catch (ConfigException tooDeep) {
      return asItIs;
    }
  }

  /** YAML's parser refuses these too (YAML 1.2, 5.1), but does not say where or which. */
  private static Optional<Problem> unprintable(String source, String text) {
    int line = 1;
    int column = 1;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean allowed = c == '\n' || c == '\r' || c == '\t' || c == '\u0085';
      if (Character.isISOControl(c) && !allowed) {
        String message = String.format("holds a control character (U+%04X)", (int) c);
        return Optional.of(new Problem(new Position(source, line, column), "", message));
      }
      column = c == '\n' ? 1 : column + 1;
      line += c == '\n' ? 1 : 0;
    }
    return Optional.empty();
  }

  private static YamlNode moved(YamlNode node, Position at) {
    if (node instanceof Scalar scalar) {
      return new Scalar(at, scalar.text(), scalar.type());
    }
    if (node instanceof Sequence sequence) {
      return new Sequence(
          at, sequence.elements().stream().map(element -> moved(element, at)).toList());
    }
    Map<String, Entry> entries = new LinkedHashMap<>();
    ((Mapping) node)
        .entries()
        .forEach((name, entry) -> entries.put(name, new Entry(at, moved(entry.value(), at))));
    return new Mapping(at, entries);
  }

  /** The engine's own mark says where; Jackson's location is that of the token before. */
  private Problem syntaxError(JacksonException broken) {
    if (broken.getCause() instanceof MarkedYamlEngineException marked
        && marked.getProblemMark().isPresent()) {
      Mark mark = marked.getProblemMark().get();
      Position at = new Position(source, mark.getLine() + 1, mark.getColumn() + 1);
      return new Problem(at, "", "not YAML: " + marked.getProblem());
    }
    TokenStreamLocation at = broken.getLocation();
    Position position = at == null ? new Position(source, 1, 1) : position(at);
    return new Problem(position, "", "not YAML: " + broken.getOriginalMessage());
  }

  private Optional<YamlNode> document() {
    JsonToken first = parser.nextToken();
    if (first == null) {
      problems.add(new Problem(new Position(source, 1, 1), "", "is empty"));
      return Optional.empty();
    }
    YamlNode node = node(first, "", 0);
    if (parser.nextToken() != null) {
      problems.add(new Problem(here(), "", "a second document begins; one file holds one"));
    }
    return Optional.of(node);
  }

  private YamlNode node(JsonToken token, String path, int depth) {
    Position at = here();
    checkNode(at, path, depth);
    return switch (token) {
      case START_OBJECT -> mapping(at, path, depth);
      case START_ARRAY -> sequence(at, path, depth);
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
          new Scalar(at, parser.getString(), ScalarType.NUMBER);
      case VALUE_TRUE -> new Scalar(at, "true", ScalarType.BOOLEAN);
      case VALUE_FALSE -> new Scalar(at, "false", ScalarType.BOOLEAN);
      case VALUE_NULL -> new Scalar(at, "", ScalarType.NULL);
      default -> new Scalar(at, parser.getString(), ScalarType.STRING);
    };
  }

  private void checkNode(Position at, String path, int depth) {
    if (parser.isCurrentAlias()) {
      problems.add(
          new Problem(at, path, "'*" + parser.getString() + "' is an alias; write the value out"));
    }
    Problem.throwIfTooMany(problems);
    Object tag = parser.getTypeId();
    if (tag != null) {
      String written = "!" + tag.toString().replace("tag:yaml.org,2002:", "!");
      problems.add(
          new Problem(at, path, "'" + written + "' is a tag; values are told by their key"));
    }
    if (depth == MAX_DEPTH) {
      problems.add(new Problem(at, "", "nested deeper than " + MAX_DEPTH + " levels"));
      throw new ConfigException(problems);
    }
  }

  private Mapping mapping(Position at, String path, int depth) {
    Map<String, Entry> entries = new LinkedHashMap<>();
    for (JsonToken token = parser.nextToken();
        token == JsonToken.PROPERTY_NAME;
        token = parser.nextToken()) {
      String name = parser.currentName();
      Position keyAt = here();
      String child = path.isEmpty() ? name : path + "." + name;
      YamlNode value = node(required(parser.nextToken()), child, depth + 1);
      if (name.equals("<<")) {
        problems.add(new Problem(keyAt, path, "'<<' is a merge key; write the keys out"));
        continue;
      }
      Entry earlier = entries.putIfAbsent(name, new Entry(keyAt, value));
      if (earlier != null) {
        problems.add(
            new Problem(
                keyAt,
                child,
                "duplicate key; it was first written at line " + earlier.keyAt().line()));
      }
    }
    return new Mapping(at, entries);
  }

  private Sequence sequence(Position at, String path, int depth) {
    List<YamlNode> elements = new ArrayList<>();
    for (JsonToken token = required(parser.nextToken());
        token != JsonToken.END_ARRAY;
        token = required(parser.nextToken())) {
      elements.add(node(token, path + "[" + elements.size() + "]", depth + 1));
    }
    return new Sequence(at, elements);
  }

  private static JsonToken required(@Nullable JsonToken token) {
    if (token == null) {
      throw new IllegalStateException("the parser ended inside a node");
    }
    return token;
  }

  private Position here() {
    return position(parser.currentTokenLocation());
  }

  private Position position(TokenStreamLocation at) {
    return new Position(source, at.getLineNr(), at.getColumnNr());
  }
}
