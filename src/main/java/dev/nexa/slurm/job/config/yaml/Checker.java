package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.text.Secrets;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.yaml.Schema.Anything;
import dev.nexa.slurm.job.config.yaml.Schema.Axis;
import dev.nexa.slurm.job.config.yaml.Schema.Free;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.ListOf;
import dev.nexa.slurm.job.config.yaml.Schema.MapOf;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlNode.ScalarType;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks a YAML tree against a {@link Section} and collects all problems. */
public final class Checker {
  /** A message lists all keys of a section with no more keys than this. */
  private static final int LISTED = 6;

  /** The message about {@code time:10m}, which YAML reads as one word. */
  static final String TIGHT = "write a space after the colon: ";

  private static final Pattern MINUTES_AND_SECONDS = Pattern.compile("\\d{1,2}:\\d{2}");

  /** A variable in a shell's notation; our own references are not written in capitals. */
  private static final Pattern SHELLS_OWN =
      Pattern.compile("\\$\\{([A-Z_][A-Z0-9_]*)(?::?-[^}]*)?}");

  private static final Pattern SHELLS_WORD = Pattern.compile("\\$([A-Z_][A-Z0-9_]+)");

  /** A limit of a real job is mostly longer. */
  private static final Duration SHORT_LIMIT = Duration.ofMinutes(15);

  private final List<Problem> problems;
  private final Expansion expansion;
  private final List<String> notes;
  private final String page;

  /**
   * Creates a checker of a file whose keys a page lists.
   *
   * @param page the page that an unknown key's message names, such as {@code docs/profile.md}
   */
  public Checker(List<Problem> problems, Expansion expansion, String page) {
    this(problems, expansion, new ArrayList<>(), page);
  }

  /**
   * Creates a checker.
   *
   * @param problems receives the problems
   * @param notes receives a note for each value that is accepted but may be a mistake
   * @param page the page that lists the file's keys; an empty text for none
   */
  public Checker(List<Problem> problems, Expansion expansion, List<String> notes, String page) {
    this.problems = problems;
    this.expansion = expansion;
    this.notes = notes;
    this.page = page;
  }

  /**
   * Returns the values of a mapping. A wrong value is missing from them and has a problem.
   *
   * @param path the path of {@code node} in the file; empty for the root
   */
  public Values section(Section section, YamlNode node, String path) {
    Values values = new Values(path, node.at(), problems);
    if (!(node instanceof Mapping typed)) {
      problems.add(
          new Problem(ErrorCode.CONFIG_WRONG_TYPE, node.at(), path, notAMapping(section, node)));
      return values;
    }
    Map<String, KnownKey> known = new LinkedHashMap<>();
    section.keys().forEach(key -> known.put(key.name(), key));
    Mapping mapping = asMeant(typed, known, path);
    for (Map.Entry<String, Entry> entry : mapping.entries().entrySet()) {
      String name = entry.getKey();
      YamlNode written = entry.getValue().value();
      KnownKey key = known.get(name);
      if (key == null
          && section.takes(name)
          && !isName(entry.getValue(), YamlNode.child(path, name), name)) {
        continue;
      }
      if (key != null || section.takes(name)) {
        Schema shape = key == null ? section.others().orElseThrow().value() : key.shape();
        put(values, name, value(shape, written, YamlNode.child(path, name)), written.at());
      } else {
        Position at = entry.getValue().keyAt();
        List<String> names = new ArrayList<>(known.keySet());
        section.others().ifPresent(others -> names.add(others.name().expected()));
        problem(ErrorCode.CONFIG_UNKNOWN_KEY, at, YamlNode.child(path, name), unknown(name, names));
      }
    }
    for (KnownKey key : section.keys()) {
      if (!mapping.entries().containsKey(key.name())) {
        unwritten(key, mapping, path, values);
      }
    }
    return values;
  }

  /**
   * Returns the mapping that the user wanted to write. Keys without spaces before them, below an
   * empty section, belong to the section. The word {@code time:10m} is a key with its value. Adds
   * one problem for each such section or key.
   */
  private Mapping asMeant(Mapping written, Map<String, KnownKey> known, String path) {
    Map<String, Entry> entries = new LinkedHashMap<>();
    Map<String, Map<String, Entry>> opened = new LinkedHashMap<>();
    String open = "";
    for (Map.Entry<String, Entry> member : written.entries().entrySet()) {
      String name = member.getKey();
      Entry entry = member.getValue();
      String key = name.split(":", 2)[0];
      boolean empty = entry.value() instanceof Scalar value && value.type() == ScalarType.NULL;
      if (known.containsKey(name)) {
        open = empty ? name : "";
        entries.put(name, entry);
      } else if (empty && known.containsKey(key)) {
        String value = name.substring(key.length() + 1);
        problem(
            ErrorCode.CONFIG_SYNTAX,
            entry.keyAt(),
            YamlNode.child(path, key),
            TIGHT + key + ": " + YamlNode.shown(value));
        entries.put(key, new Entry(entry.keyAt(), YamlReader.scalar(entry.keyAt(), value)));
      } else if (!open.isEmpty()
          && belongs(Objects.requireNonNull(known.get(open)).shape(), name)) {
        opened.putIfAbsent(open, new LinkedHashMap<>());
        opened.get(open).put(name, entry);
      } else {
        entries.put(name, entry);
      }
    }
    for (Map.Entry<String, Map<String, Entry>> section : opened.entrySet()) {
      Position at = Objects.requireNonNull(written.entries().get(section.getKey())).keyAt();
      String message = "is empty: put two spaces before the keys that belong to it: ";
      String keys = String.join(", ", section.getValue().keySet());
      problem(
          ErrorCode.CONFIG_WRONG_TYPE, at, YamlNode.child(path, section.getKey()), message + keys);
      entries.put(section.getKey(), new Entry(at, new Mapping(at, section.getValue())));
    }
    return new Mapping(written.at(), entries);
  }

  private static boolean belongs(Schema shape, String name) {
    return shape instanceof Section section
        ? section.takes(name) || section.keys().stream().anyMatch(key -> key.name().equals(name))
        : shape instanceof MapOf map && name.matches(map.name().pattern());
  }

  /**
   * Returns the message for a value in the place of a section, with what to write if that is short.
   */
  private static String notAMapping(Section section, YamlNode node) {
    if (node instanceof Sequence list
        && !list.elements().isEmpty()
        && list.elements().stream()
            .allMatch(one -> one instanceof Mapping keys && keys.entries().size() == 1)) {
      String key = ((Mapping) list.elements().get(0)).entries().keySet().iterator().next();
      return "expected keys without dashes, got a list: write `%s: …`, not `- %s: …`"
          .formatted(key, key);
    }
    String message = "expected a mapping of keys, got " + node.words();
    List<String> keys = new ArrayList<>();
    for (KnownKey key : section.keys()) {
      if (!key.required() || !(key.shape() instanceof ValueType type)) {
        return message;
      }
      boolean takes =
          node instanceof Scalar value
              && type.accepts().contains(value.type())
              && (type.pattern().isEmpty() || value.text().matches(type.pattern()));
      keys.add(key.name() + ": " + (takes ? ((Scalar) node).text() : usual(key, type)));
    }
    return keys.isEmpty() ? message : message + ": write {" + String.join(", ", keys) + "}";
  }

  /** Checks the name of a key that another program reads: it may not contain control characters. */
  private boolean isName(Entry entry, String path, String name) {
    Scalar asScalar = new Scalar(entry.keyAt(), name, ScalarType.STRING);
    return scalar(ValueType.ANY_NAME, asScalar, path).isPresent();
  }

  private String unknown(String name, List<String> names) {
    boolean waits =
        name.matches("depends?_?on|dependsOn|needs|requires") && names.contains("after");
    Optional<String> nearest = waits ? Optional.of("after") : Nearest.to(name, names);
    if (nearest.isPresent()) {
      return "unknown key (did you mean '" + nearest.get() + "'?)";
    }
    if (names.size() <= LISTED) {
      return "unknown key; known are " + String.join(", ", names);
    }
    return "unknown key; the nearest known keys are "
        + String.join(", ", Nearest.first(name, names, 3))
        + (page.isEmpty() ? "" : "; " + page + " lists all");
  }

  private void unwritten(KnownKey key, Mapping mapping, String path, Values values) {
    String childPath = YamlNode.child(path, key.name());
    if (key.required()) {
      problems.add(
          new Problem(
              ErrorCode.CONFIG_MISSING_KEY,
              mapping.at(),
              childPath,
              "missing; expected " + expected(key.shape())));
    } else if (!key.fallback().isEmpty()) {
      YamlNode fallback = YamlReader.scalar(mapping.at(), key.fallback());
      values.putDefault(key.name(), value(key.shape(), fallback, childPath).orElseThrow());
    } else if (!key.isLater()
        && key.shape() instanceof Section section
        && holdsUnwritten(section)) {
      // A section that is not written still has its defaults.
      values.putDefault(
          key.name(), section(section, new Mapping(mapping.at(), Map.of()), childPath));
    }
  }

  /** Returns the value of a key that has a default. */
  public static Object fallback(KnownKey key) {
    Checker checker = new Checker(new ArrayList<>(), new Expansion(Map.of(), "", false), "");
    YamlNode node = YamlReader.scalar(new Position("default", 0, 0), key.fallback());
    return checker.value(key.shape(), node, key.name()).orElseThrow();
  }

  private static void put(Values values, String key, Optional<Object> value, Position at) {
    if (value.isPresent()) {
      values.put(key, value.get(), at);
    } else {
      values.putWrong(key, at);
    }
  }

  private static boolean holdsUnwritten(Section section) {
    boolean some = false;
    for (KnownKey key : section.keys()) {
      if (key.required()) {
        return false;
      }
      some |= !key.fallback().isEmpty();
    }
    return some;
  }

  private Optional<Object> value(Schema shape, YamlNode node, String path) {
    if (shape instanceof ValueType type) {
      return scalar(type, node, path);
    }
    if (shape instanceof Section section) {
      // Without a mapping the section is missing, so that it is reported once.
      return node instanceof Mapping
          ? Optional.of(section(section, node, path))
          : wrongType(node, path, notAMapping(section, node));
    }
    if (shape instanceof Anything) {
      return free(node, path, false);
    }
    if (shape instanceof Axis axis) {
      return axis(axis, node, path);
    }
    if (shape instanceof Free) {
      return node instanceof Mapping
          ? free(node, path, true)
          : wrongType(node, path, "expected a mapping of names, got " + node.words());
    }
    return shape instanceof ListOf list ? list(list, node, path) : map((MapOf) shape, node, path);
  }

  private Optional<Object> axis(Axis axis, YamlNode node, String path) {
    Optional<Section> range = axis.range();
    if (node instanceof Mapping && range.isPresent()) {
      return Optional.of(section(range.get(), node, path));
    }
    if (node instanceof Sequence sequence && sequence.elements().isEmpty()) {
      return problem(
          ErrorCode.CONFIG_INVALID_VALUE, node, path, "is empty: name the values to try");
    }
    String or = range.isPresent() ? ", or {min: …, max: …, scale: log}" : "";
    return node instanceof Sequence
        ? list(new ListOf(axis.element()), node, path)
        : wrongType(
            node,
            path,
            "expected a list of %s%s, got %s%s"
                .formatted(several(axis.element()), or, node.words(), asList(node, path)));
  }

  /**
   * Reads values that another program checks, by the types of YAML 1.2. References in texts are
   * replaced.
   *
   * @param mayBeEmpty whether a key without a value is kept
   */
  private Optional<Object> free(YamlNode node, String path, boolean mayBeEmpty) {
    if (node instanceof Mapping mapping) {
      Values values = new Values(path, node.at(), problems);
      for (Map.Entry<String, Entry> member : mapping.entries().entrySet()) {
        YamlNode value = member.getValue().value();
        String below = YamlNode.child(path, member.getKey());
        if (isName(member.getValue(), below, member.getKey())) {
          put(values, member.getKey(), free(value, below, mayBeEmpty), value.at());
        }
      }
      return Optional.of(values);
    }
    if (node instanceof Sequence sequence) {
      List<Object> elements = new ArrayList<>();
      for (int i = 0; i < sequence.elements().size(); i++) {
        free(sequence.elements().get(i), path + "[" + i + "]", mayBeEmpty).ifPresent(elements::add);
      }
      return Optional.of(elements);
    }
    ScalarType type = ((Scalar) node).type();
    if (mayBeEmpty && type == ScalarType.NULL) {
      return Optional.of(Values.NOTHING);
    }
    ValueType as =
        type == ScalarType.NUMBER
            ? ValueType.DECIMAL_NUMBER
            : type == ScalarType.BOOLEAN ? ValueType.BOOLEAN : ValueType.FREE_TEXT;
    return scalar(as, node, path);
  }

  private Optional<Object> scalar(ValueType type, YamlNode node, String path) {
    if (!(node instanceof Scalar scalar)) {
      String text = type.accepts().contains(ScalarType.STRING) ? node.asText().orElse("") : "";
      boolean fits =
          type.equals(ValueType.SCRIPT)
              || (!type.equals(ValueType.LITERAL) && !text.matches("(?s).*\\s.*"));
      boolean plain = text.isEmpty() || !fits || path.endsWith("]");
      String right = plain ? "" : YamlNode.written(name(path), text);
      return wrongType(node, path, "expected " + type.expected() + ", got " + node.words() + right);
    }
    if (scalar.type() == ScalarType.NULL) {
      return wrongType(
          node, path, "has no value; expected " + type.expected() + ", or leave the key out");
    }
    // Checked before any message that would show the value.
    boolean variable = isVariable(path);
    if ((variable || scalar.text().length() >= Secrets.SHORTEST)
        && isSecret(scalar, path, variable)) {
      return Optional.empty();
    }
    if (!type.accepts().contains(scalar.type())) {
      return wrongType(
          node,
          path,
          "expected " + type.expected() + ", got " + node.words() + quoting(type, scalar));
    }
    if (variable) {
      Matcher braces = SHELLS_OWN.matcher(scalar.text());
      if (braces.find()) {
        return problem(ErrorCode.CONFIG_INVALID_VALUE, node, path, unfilled(braces.group(1)));
      }
      Matcher bare = SHELLS_WORD.matcher(scalar.text());
      if (bare.find()) {
        notes.add(new Problem(scalar.at(), path, unfilled(bare.group(1))).toString());
      }
    }
    try {
      Object value = type.parse(scalar.text());
      if (value instanceof Duration limit) {
        noteMinutes(scalar, path, limit);
      }
      if (type.isPath()) {
        return Optional.of(expansion.expand((String) value));
      }
      return Optional.of(type.mayHoldReferences() ? expansion.expandOurs((String) value) : value);
    } catch (IllegalArgumentException wrong) {
      String message = wrong.getMessage() + type.respelled(scalar.text());
      return problem(ErrorCode.CONFIG_INVALID_VALUE, node, path, message);
    }
  }

  /**
   * Notes a short limit that was perhaps typed as hours and minutes, and a number of minutes that
   * was perhaps typed as seconds.
   */
  private void noteMinutes(Scalar scalar, String path, Duration limit) {
    String text = scalar.text();
    String right = "";
    if (MINUTES_AND_SECONDS.matcher(text).matches() && limit.compareTo(SHORT_LIMIT) < 0) {
      String[] parts = text.split(":", 2);
      int hours = Integer.parseInt(parts[0]);
      right = text + ":00 for " + hours + " h " + Integer.parseInt(parts[1]) + " min";
    } else if (text.matches("\\d+") && limit.toMinutes() % 1800 == 0) {
      right = limit.toMinutes() / 60 + "m for " + text + " seconds";
    }
    if (!right.isEmpty()) {
      String unit = text.contains(":") ? "minutes:seconds" : "minutes";
      String message =
          "%s is %s, as in Slurm, so the limit is %s; write %s"
              .formatted(text, unit, TimeLimit.words(limit), right);
      notes.add(new Problem(scalar.at(), path, message).toString());
    }
  }

  private static String unfilled(String name) {
    return ("no shell reads this text, so the job would get it as it is: write ${env:%1$s} for the"
            + " value that %1$s has here; a value of the job's own is exported in setup")
        .formatted(name);
  }

  private static boolean isVariable(String path) {
    int name = path.lastIndexOf('.');
    return name == 3 ? path.startsWith("env") : name > 3 && path.startsWith(".env", name - 4);
  }

  private boolean isSecret(Scalar scalar, String path, boolean variable) {
    String name = path.substring(path.lastIndexOf('.') + 1);
    // The names of members are checked as texts too.
    Optional<String> secret =
        scalar.text().equals(name)
            ? Secrets.inText(name)
            : Secrets.of(name, scalar.text(), variable);
    if (secret.isPresent()) {
      problem(
          ErrorCode.CONFIG_HOLDS_SECRET,
          scalar,
          path,
          "looks like "
              + secret.get()
              + "; what a config holds is kept with the run and shown to others: write it into the"
              + " file that env_file names (`nexa-slurm explain docs/secrets.md`)");
    } else if (Secrets.isRandom(scalar.text())) {
      String note = "is random text: if it is a secret, write it into the file that env_file names";
      notes.add(new Problem(scalar.at(), path, note).toString());
    }
    return secret.isPresent();
  }

  private static String quoting(ValueType type, Scalar scalar) {
    boolean wantsText = type.accepts().contains(ScalarType.STRING);
    boolean couldBeNumber =
        type.accepts().contains(ScalarType.NUMBER) && scalar.type() == ScalarType.STRING;
    String right = wantsText ? "" : type.respelled(scalar.text());
    if (wantsText) {
      return "; put it in quotes: \"" + YamlNode.shortened(scalar.text()) + "\"";
    }
    return couldBeNumber && scalar.text().matches("[0-9.]+") ? "; write it without quotes" : right;
  }

  /**
   * Returns a hint for {@code tags.project=nlp}: a word with a colon in a list is not a mapping.
   */
  private static String asList(YamlNode node, String path) {
    if (node instanceof Mapping mapping && mapping.entries().size() == 1) {
      Map.Entry<String, Entry> only = mapping.entries().entrySet().iterator().next();
      if (only.getValue().value() instanceof Scalar scalar) {
        String word = YamlNode.shortened(only.getKey() + ":" + scalar.text());
        return "; a list is written " + path + "=[" + word + "]";
      }
    }
    if (node instanceof Scalar scalar && !scalar.text().isBlank()) {
      String bare = scalar.text().strip().replaceFirst("^choice\\((.*)\\)$", "$1");
      String words = bare.replaceAll("[,\\s]+", ", ");
      return "; write " + name(path) + ": [" + YamlNode.shortened(words) + "]";
    }
    return "";
  }

  /** Returns the first entry of a list of mappings as YAML writes it. */
  private static String asEntries(Section entry) {
    List<String> keys = new ArrayList<>();
    for (KnownKey key : entry.keys()) {
      if (key.shape() instanceof ValueType type && (key.required() || key.name().equals("name"))) {
        keys.add(key.name() + ": " + usual(key, type));
      }
    }
    return "; write each entry on a line of its own, such as - {" + String.join(", ", keys) + "}";
  }

  /** Returns a value that a key takes, else the key's name in capitals. */
  private static String usual(KnownKey key, ValueType type) {
    if (type.equals(ValueType.MONEY)) {
      return "5000";
    }
    int example = type.expected().indexOf(" such as ");
    if (example >= 0) {
      return type.expected().substring(example + " such as ".length()).split(",| or ", 2)[0];
    }
    return type.expected().startsWith("one of ")
        ? type.expected().substring("one of ".length()).split(",", 2)[0]
        : key.name().toUpperCase(Locale.ROOT);
  }

  private static String name(String path) {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  /** Returns how to write a mapping of names that was written as a list or a text. */
  private static String asMapping(YamlNode node, String path) {
    YamlNode one =
        node instanceof Sequence list && !list.elements().isEmpty() ? list.elements().get(0) : node;
    String member = "";
    if (one instanceof Scalar scalar) {
      String[] parts = scalar.text().split("=", 2);
      member = parts.length == 2 ? parts[0] + ": " + parts[1] : "";
    } else if (one instanceof Mapping mapping && mapping.entries().size() == 1) {
      Map.Entry<String, Entry> only = mapping.entries().entrySet().iterator().next();
      if (only.getValue().value() instanceof Scalar value) {
        member = only.getKey() + ": " + value.text();
      }
    }
    return member.isEmpty()
        ? ""
        : "; write " + name(path) + ": {" + YamlNode.shortened(member) + "}";
  }

  private Optional<Object> list(ListOf shape, YamlNode node, String path) {
    if (!(node instanceof Sequence sequence)) {
      String right =
          shape.element() instanceof Section entry ? asEntries(entry) : asList(node, path);
      String message = "expected a list of " + several(shape.element()) + ", got " + node.words();
      return wrongType(node, path, message + right);
    }
    List<Object> elements = new ArrayList<>();
    for (int i = 0; i < sequence.elements().size(); i++) {
      value(shape.element(), sequence.elements().get(i), path + "[" + i + "]")
          .ifPresent(elements::add);
    }
    return Optional.of(elements);
  }

  private Optional<Object> map(MapOf shape, YamlNode node, String path) {
    if (!(node instanceof Mapping mapping)) {
      return wrongType(
          node, path, "expected a mapping of names, got " + node.words() + asMapping(node, path));
    }
    Values values = new Values(path, node.at(), problems);
    for (Map.Entry<String, Entry> member : mapping.entries().entrySet()) {
      String name = member.getKey();
      Entry entry = member.getValue();
      Scalar asScalar = new Scalar(entry.keyAt(), name, ScalarType.STRING);
      boolean goodName = scalar(shape.name(), asScalar, YamlNode.child(path, name)).isPresent();
      Optional<Object> value = value(shape.value(), entry.value(), YamlNode.child(path, name));
      if (goodName) {
        put(values, name, value, entry.value().at());
      }
    }
    return Optional.of(values);
  }

  private Optional<Object> wrongType(YamlNode node, String path, String message) {
    return problem(ErrorCode.CONFIG_WRONG_TYPE, node, path, message);
  }

  private Optional<Object> problem(ErrorCode code, YamlNode node, String path, String message) {
    return problem(code, node.at(), path, message);
  }

  private Optional<Object> problem(ErrorCode code, Position at, String path, String message) {
    problems.add(new Problem(code, at, path, message));
    Problem.throwIfTooMany(problems);
    return Optional.empty();
  }

  /** Returns what a list takes, in the plural. */
  private static String several(Schema shape) {
    if (shape instanceof ValueType type) {
      return type.several();
    }
    return shape instanceof Anything ? "values" : shape instanceof ListOf ? "lists" : "mappings";
  }

  private static String expected(Schema shape) {
    if (shape instanceof ValueType type) {
      return type.expected();
    }
    if (shape instanceof Anything) {
      return "values";
    }
    if (shape instanceof Section section) {
      List<String> required =
          section.keys().stream().filter(KnownKey::required).map(KnownKey::name).toList();
      String keys = required.size() == 1 ? " with the key " : " with the keys ";
      return "a mapping" + (required.isEmpty() ? "" : keys + String.join(", ", required));
    }
    return shape instanceof ListOf ? "a list" : "a mapping";
  }
}
