package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlNode.ScalarType;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
 * Parses YAML 1.2 (core schema) into {@link YamlNode}s.
 *
 * <p>Reports as problems what Jackson 3 accepts silently: duplicate keys, aliases, merge keys,
 * tags, and a second document.
 */
public final class YamlReader {
  /** Accepts long names, so that the checker reports them instead of the parser. */
  private static final StreamReadConstraints NAMES =
      StreamReadConstraints.builder().maxNameLength(2 * ConfigSource.MAX_BYTES).build();

  private static final YAMLFactory FACTORY =
      YAMLFactory.builder()
          .streamReadConstraints(NAMES)
          .yamlSchema(YAMLSchema.CORE)
          .disable(YAMLReadFeature.PARSE_OCTAL_NUMBERS)
          .build();

  /** The message for a text that another program was to fill in. */
  static final String TEMPLATE =
      "{{ }} is a template's notation, which nexa-slurm does not fill in: write the value, or"
          + " ${env:NAME}";

  private static final String POINTER =
      "is a pointer of Git LFS: type `git lfs pull` in its folder, which brings the file";

  private static final Pattern MERGE = Pattern.compile("(?m)^<{7} .*$");
  private static final String UNMERGED =
      "git left a merge here: keep one of the versions, and remove all other lines from <<<<<<<"
          + " to >>>>>>>";

  private static final Pattern TIGHT =
      Pattern.compile("((?:- +)?[A-Za-z_][\\w-]*):(?!//)([^\\s:].*)");

  /** The deepest nesting of a document. */
  public static final int MAX_DEPTH = 20;

  private final String source;
  private final String text;
  private final List<Problem> problems;
  private final YAMLParser parser;

  private YamlReader(String source, String text, List<Problem> problems) {
    this.source = source;
    this.text = text;
    this.problems = problems;
    this.parser = (YAMLParser) FACTORY.createParser(ObjectReadContext.empty(), text);
  }

  /**
   * Parses a document and adds its problems.
   *
   * @param source the file's name, for positions
   * @return empty if the text is not YAML or is empty
   * @throws ConfigException if the document is nested too deep or has too many problems
   */
  public static Optional<YamlNode> read(String source, String text, List<Problem> problems) {
    Optional<Problem> unprintable = unprintable(source, text);
    if (unprintable.isPresent()) {
      problems.add(unprintable.get());
      return Optional.empty();
    }
    if (text.startsWith("version https://git-lfs.github.com/")) {
      problems.add(syntax(new Position(source, 1, 1), POINTER));
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

  /**
   * Parses one value from outside a file: a default, or {@code --set key=value}. A text that is not
   * valid YAML becomes a string.
   */
  public static YamlNode scalar(Position at, String text) {
    List<Problem> problems = new ArrayList<>();
    Scalar asItIs = new Scalar(at, text, ScalarType.STRING);
    try {
      YamlNode node = read("", text, problems).orElse(asItIs);
      return problems.isEmpty() ? moved(node, "", Map.of(), at) : asItIs;
    } catch (ConfigException tooDeep) {
      return asItIs;
    }
  }

  /**
   * Finds a control character that YAML 1.2 (5.1) forbids. The parser refuses it too, but does not
   * name its position.
   */
  private static Optional<Problem> unprintable(String source, String text) {
    int line = 1;
    int column = 1;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean allowed = c == '\n' || c == '\r' || c == '\t' || c == '\u0085';
      if (Character.isISOControl(c) && !allowed) {
        String message = String.format("holds a control character (U+%04X)", (int) c);
        return Optional.of(syntax(new Position(source, line, column), message));
      }
      column = c == '\n' ? 1 : column + 1;
      line += c == '\n' ? 1 : 0;
    }
    return Optional.empty();
  }

  /**
   * Returns a copy of a tree with other positions.
   *
   * @param path the path of the node, such as {@code resources.time}; empty for a whole document
   * @param places the positions of some nodes, by their paths
   * @param otherwise the position of the other nodes
   */
  public static YamlNode moved(
      YamlNode node, String path, Map<String, Position> places, Position otherwise) {
    Position at = places.getOrDefault(path, otherwise);
    if (node instanceof Scalar scalar) {
      return new Scalar(at, scalar.text(), scalar.type());
    }
    String begin = path.isEmpty() ? "" : path + ".";
    if (node instanceof Sequence sequence) {
      List<YamlNode> elements = new ArrayList<>();
      for (YamlNode element : sequence.elements()) {
        elements.add(moved(element, begin + elements.size(), places, otherwise));
      }
      return new Sequence(at, elements);
    }
    Map<String, Entry> entries = new LinkedHashMap<>();
    for (Map.Entry<String, Entry> entry : ((Mapping) node).entries().entrySet()) {
      String key = begin + entry.getKey();
      YamlNode value = moved(entry.getValue().value(), key, places, otherwise);
      entries.put(entry.getKey(), new Entry(value.at(), value));
    }
    return new Mapping(at, entries);
  }

  /**
   * Returns a problem at the parser engine's mark. Jackson's location is the location of the
   * previous token.
   */
  private Problem syntaxError(JacksonException broken) {
    Matcher merge = MERGE.matcher(text);
    if (merge.find()) {
      int line =
          1 + (int) text.substring(0, merge.start()).chars().filter(it -> it == '\n').count();
      return syntax(new Position(source, line, 1), UNMERGED);
    }
    if (broken.getCause() instanceof MarkedYamlEngineException marked
        && marked.getProblemMark().isPresent()) {
      Mark mark = marked.getProblemMark().get();
      boolean keyOpen = "could not find expected ':'".equals(marked.getProblem());
      boolean goesOn = "mapping values are not allowed here".equals(marked.getProblem());
      Optional<Problem> without =
          keyOpen && marked.getContextMark().isPresent()
              ? withoutColon(marked.getContextMark().get().getLine())
              : goesOn ? withoutColon(mark.getLine() - 1) : Optional.empty();
      if (without.isPresent()) {
        return without.get();
      }
      String context = marked.getContext();
      if (context != null
          && context.contains("quoted scalar")
          && marked.getContextMark().isPresent()) {
        Mark quote = marked.getContextMark().get();
        return problem(quote, "the quote that begins here is not closed");
      }
      if (context != null
          && context.startsWith("while parsing a flow")
          && marked.getContextMark().isPresent()
          && marked.getContextMark().get().getLine() < mark.getLine()) {
        String end = line(mark.getLine()).isBlank() ? "" : " before line " + (mark.getLine() + 1);
        return problem(
            marked.getContextMark().get(),
            (context.endsWith("mapping") ? "the {" : "the [")
                + " that begins here is not closed"
                + (end.isEmpty() ? "" : end + ", or a comma is missing"));
      }
      String message =
          marked
                  .getProblem()
                  .replaceFirst(
                      "^expected <block end>, but found '([}\\]])'",
                      "no bracket is open for this $1")
                  .replaceFirst(
                      "^found character '([^\\\\])'.*", "a text that begins with $1 needs quotes")
              + (goesOn ? indents(mark.getLine()) : "");
      return problem(mark, message);
    }
    TokenStreamLocation at = broken.getLocation();
    Position position = at == null ? new Position(source, 1, 1) : position(at);
    boolean filled = line(position.line() - 1).contains("{{");
    String message = filled ? TEMPLATE : "not YAML: " + broken.getOriginalMessage();
    return syntax(position, message);
  }

  private Problem problem(Mark at, String message) {
    Position position = new Position(source, at.getLine() + 1, at.getColumn() + 1);
    return syntax(position, "not YAML: " + message);
  }

  private static Problem syntax(Position at, String message) {
    return new Problem(ErrorCode.CONFIG_SYNTAX, at, "", message);
  }

  /** Returns how far a line and the line before it are indented; empty if they are alike. */
  private String indents(int number) {
    String[] lines = text.split("\\R", -1);
    if (number < 1 || number >= lines.length || lines[number - 1].isBlank()) {
      return "";
    }
    int own = lines[number].length() - lines[number].stripLeading().length();
    int before = lines[number - 1].length() - lines[number - 1].stripLeading().length();
    return own == before
        ? ""
        : "; line %s begins with %s spaces, line %s with %s"
            .formatted(number + 1, own, number, before);
  }

  /**
   * Returns the problem of a key without a colon, or without a space after it, which the parser
   * notices only at the next line.
   *
   * @param number the line's number, from 0
   * @return empty if the line is not one of a key and a value
   */
  private Optional<Problem> withoutColon(int number) {
    String[] lines = text.split("\\R", -1);
    String line = number < 0 ? "" : lines[number].strip();
    Matcher tight = TIGHT.matcher(line);
    if (tight.matches()) {
      int column = 1 + lines[number].indexOf(line) + tight.end(1);
      String right = tight.group(1) + ": " + YamlNode.shown(tight.group(2));
      return Optional.of(syntax(new Position(source, number + 1, column), Checker.TIGHT + right));
    }
    if (!line.matches("[A-Za-z_][\\w-]*( +[^:]*)?")) {
      return Optional.empty();
    }
    String[] words = line.split(" +", 2);
    Position at = new Position(source, number + 1, 1 + lines[number].indexOf(line));
    String value = words.length == 2 ? YamlNode.shortened(words[1]) : "…";
    String message =
        "not YAML: '%s' has no colon: write %s: %s"
            .formatted(YamlNode.shortened(line), words[0], value);
    return Optional.of(syntax(at, message));
  }

  private Optional<YamlNode> document() {
    JsonToken first = parser.nextToken();
    if (first == null) {
      String message = text.isBlank() ? "is empty" : "holds only comments";
      String keys = "; `nexa-slurm explain config` lists the keys of a run's config";
      add(new Position(source, 1, 1), "", message + keys);
      return Optional.empty();
    }
    YamlNode node = node(first, "", 0);
    if (parser.nextToken() != null) {
      add(
          here(),
          "",
          "a second document begins after ---; write it to a file of its own, because a file holds one");
    }
    return Optional.of(node);
  }

  private void add(Position at, String path, String message) {
    problems.add(new Problem(ErrorCode.CONFIG_SYNTAX, at, path, message));
  }

  private YamlNode node(JsonToken token, String path, int depth) {
    Position at = here();
    checkNode(at, path, depth);
    if (token == JsonToken.START_OBJECT) {
      return mapping(at, path, depth);
    }
    if (token == JsonToken.START_ARRAY) {
      return sequence(at, path, depth);
    }
    if (token.isBoolean()) {
      return new Scalar(at, token.asString(), ScalarType.BOOLEAN);
    }
    if (token == JsonToken.VALUE_NULL) {
      return new Scalar(at, "", ScalarType.NULL);
    }
    return new Scalar(
        at, parser.getString(), token.isNumeric() ? ScalarType.NUMBER : ScalarType.STRING);
  }

  private void checkNode(Position at, String path, int depth) {
    if (parser.isCurrentAlias()) {
      add(at, path, "'*" + parser.getString() + "' is an alias; write the value out");
    }
    Problem.throwIfTooMany(problems);
    Object tag = parser.getTypeId();
    if (tag != null) {
      String written = "!" + tag.toString().replace("tag:yaml.org,2002:", "!");
      add(at, path, "'" + written + "' is a tag; the key decides the type of a value");
    }
    if (depth == MAX_DEPTH) {
      add(at, "", "nested deeper than " + MAX_DEPTH + " levels");
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
      String child = YamlNode.child(path, name);
      YamlNode value = node(required(parser.nextToken()), child, depth + 1);
      if (name.equals("<<")) {
        add(keyAt, path, "'<<' is a merge key; write the keys out");
        continue;
      }
      Entry earlier = entries.putIfAbsent(name, new Entry(keyAt, value));
      if (earlier != null) {
        add(keyAt, child, "duplicate key; it was first written at line " + earlier.keyAt().line());
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

  /** Returns a line of the text by its number, from 0; empty behind the last line. */
  private String line(int number) {
    String[] lines = text.split("\\R", -1);
    return number < lines.length ? lines[number] : "";
  }

  private Position here() {
    return position(parser.currentTokenLocation());
  }

  private Position position(TokenStreamLocation at) {
    return new Position(source, at.getLineNr(), at.getColumnNr());
  }
}
