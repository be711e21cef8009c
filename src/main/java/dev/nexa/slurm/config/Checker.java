package dev.nexa.slurm.config;

import dev.nexa.slurm.config.Shape.Anything;
import dev.nexa.slurm.config.Shape.Axis;
import dev.nexa.slurm.config.Shape.Free;
import dev.nexa.slurm.config.Shape.KnownKey;
import dev.nexa.slurm.config.Shape.ListOf;
import dev.nexa.slurm.config.Shape.MapOf;
import dev.nexa.slurm.config.Shape.Presence;
import dev.nexa.slurm.config.Shape.Section;
import dev.nexa.slurm.config.YamlNode.Entry;
import dev.nexa.slurm.config.YamlNode.Mapping;
import dev.nexa.slurm.config.YamlNode.Scalar;
import dev.nexa.slurm.config.YamlNode.ScalarType;
import dev.nexa.slurm.config.YamlNode.Sequence;
import dev.nexa.slurm.error.Nearest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Holds a YAML tree against a {@link Section} and collects everything that is wrong. */
final class Checker {
  private final List<Problem> problems;
  private final Expansion expansion;

  Checker(List<Problem> problems, Expansion expansion) {
    this.problems = problems;
    this.expansion = expansion;
  }

  /** The values of a mapping; those that are wrong are missing from it and told as problems. */
  Values section(Section section, YamlNode node, String path) {
    Values values = new Values(path, node.at());
    if (!(node instanceof Mapping mapping)) {
      problems.add(new Problem(node.at(), path, "expected a mapping of keys, got " + node.words()));
      return values;
    }
    Map<String, KnownKey> known = new LinkedHashMap<>();
    for (KnownKey key : section.keys()) {
      known.put(key.name(), key);
    }
    for (Map.Entry<String, Entry> entry : mapping.entries().entrySet()) {
      String name = entry.getKey();
      YamlNode written = entry.getValue().value();
      KnownKey key = known.get(name);
      if (key == null
          && section.takes(name)
          && !isName(entry.getValue(), child(path, name), name)) {
        continue;
      }
      if (key != null || section.takes(name)) {
        Shape shape = key == null ? section.others().orElseThrow().value() : key.shape();
        put(values, name, value(shape, written, child(path, name)), written.at());
      } else {
        Position at = entry.getValue().keyAt();
        List<String> names = new ArrayList<>(known.keySet());
        section.others().ifPresent(others -> names.add(others.name().expected()));
        problems.add(new Problem(at, child(path, name), unknown(name, names)));
        Problem.throwIfTooMany(problems);
      }
    }
    for (KnownKey key : section.keys()) {
      if (!mapping.entries().containsKey(key.name())) {
        unwritten(key, mapping, path, values);
      }
    }
    return values;
  }

  /** Names that are somebody else's to check hold no control characters either. */
  private boolean isName(Entry entry, String path, String name) {
    Scalar asScalar = new Scalar(entry.keyAt(), name, ScalarType.STRING);
    return scalar(ValueType.ANY_NAME, asScalar, path).isPresent();
  }

  private static String unknown(String name, List<String> names) {
    Optional<String> nearest = Nearest.to(name, names);
    return "unknown key"
        + nearest
            .map(near -> " (did you mean '" + near + "'?)")
            .orElse("; known are " + String.join(", ", names));
  }

  private void unwritten(KnownKey key, Mapping mapping, String path, Values values) {
    String childPath = child(path, key.name());
    if (key.presence() == Presence.REQUIRED) {
      problems.add(
          new Problem(mapping.at(), childPath, "missing; expected " + expected(key.shape())));
    } else if (!key.fallback().isEmpty()) {
      YamlNode fallback = YamlReader.scalar(mapping.at(), key.fallback());
      put(values, key.name(), value(key.shape(), fallback, childPath), mapping.at());
    } else if (key.shape() instanceof Section section && holdsUnwritten(section)) {
      // Defaults inside a section hold also where the section is not written.
      values.put(
          key.name(),
          section(section, new Mapping(mapping.at(), Map.of()), childPath),
          mapping.at());
    }
  }

  private static void put(Values values, String key, Optional<Object> value, Position at) {
    if (value.isPresent()) {
      values.put(key, value.get(), at);
    }
  }

  private static boolean holdsUnwritten(Section section) {
    boolean some = false;
    for (KnownKey key : section.keys()) {
      if (key.presence() == Presence.REQUIRED) {
        return false;
      }
      some |= !key.fallback().isEmpty();
    }
    return some;
  }

  private Optional<Object> value(Shape shape, YamlNode node, String path) {
    if (shape instanceof ValueType type) {
      return scalar(type, node, path);
    }
    if (shape instanceof Section section) {
      return Optional.of(section(section, node, path));
    }
    if (shape instanceof Anything) {
      return free(node, path);
    }
    if (shape instanceof Axis axis) {
      return axis(axis, node, path);
    }
    if (shape instanceof Free) {
      return node instanceof Mapping
          ? free(node, path)
          : problem(node, path, "expected a mapping of names, got " + node.words());
    }
    return shape instanceof ListOf list ? list(list, node, path) : map((MapOf) shape, node, path);
  }

  private Optional<Object> axis(Axis axis, YamlNode node, String path) {
    Optional<Section> range = Sweep.range(axis.element());
    if (node instanceof Mapping && range.isPresent()) {
      return Optional.of(section(range.get(), node, path));
    }
    if (node instanceof Sequence sequence && sequence.elements().isEmpty()) {
      return problem(node, path, "is empty: name the values to try");
    }
    String or = range.isPresent() ? ", or {min: …, max: …, scale: log}" : "";
    return node instanceof Sequence
        ? list(new ListOf(axis.element()), node, path)
        : problem(
            node,
            path,
            "expected a list of " + expected(axis.element()) + or + ", got " + node.words());
  }

  /** Values as YAML 1.2 has them; references in texts are replaced. */
  private Optional<Object> free(YamlNode node, String path) {
    if (node instanceof Mapping mapping) {
      Values values = new Values(path, node.at());
      for (Map.Entry<String, Entry> member : mapping.entries().entrySet()) {
        YamlNode value = member.getValue().value();
        String below = child(path, member.getKey());
        if (isName(member.getValue(), below, member.getKey())) {
          put(values, member.getKey(), free(value, below), value.at());
        }
      }
      return Optional.of(values);
    }
    if (node instanceof Sequence sequence) {
      List<Object> elements = new ArrayList<>();
      for (int i = 0; i < sequence.elements().size(); i++) {
        free(sequence.elements().get(i), path + "[" + i + "]").ifPresent(elements::add);
      }
      return Optional.of(elements);
    }
    ScalarType type = ((Scalar) node).type();
    ValueType as =
        type == ScalarType.NUMBER
            ? ValueType.DECIMAL_NUMBER
            : type == ScalarType.BOOLEAN ? ValueType.BOOLEAN : ValueType.FREE_TEXT;
    return scalar(as, node, path);
  }

  private Optional<Object> scalar(ValueType type, YamlNode node, String path) {
    if (!(node instanceof Scalar scalar)) {
      return problem(node, path, "expected " + type.expected() + ", got " + node.words());
    }
    if (scalar.type() == ScalarType.NULL) {
      return problem(
          node, path, "has no value; expected " + type.expected() + ", or leave the key out");
    }
    if (!type.accepts().contains(scalar.type())) {
      return problem(
          node,
          path,
          "expected " + type.expected() + ", got " + node.words() + quoting(type, scalar));
    }
    try {
      Object value = type.parse(scalar.text());
      if (type.isPath()) {
        return Optional.of(expansion.expand((String) value));
      }
      return Optional.of(type.mayHoldReferences() ? expansion.expandOurs((String) value) : value);
    } catch (IllegalArgumentException wrong) {
      return problem(node, path, String.valueOf(wrong.getMessage()));
    }
  }

  private static String quoting(ValueType type, Scalar scalar) {
    boolean wantsText = type.accepts().contains(ScalarType.STRING);
    boolean couldBeNumber =
        type.accepts().contains(ScalarType.NUMBER) && scalar.type() == ScalarType.STRING;
    if (wantsText) {
      return "; put it in quotes: \"" + YamlNode.shortened(scalar.text()) + "\"";
    }
    return couldBeNumber && scalar.text().matches("[0-9.]+") ? "; write it without quotes" : "";
  }

  /** How {@code tags.project=nlp} was probably meant: words with a colon are no mapping. */
  private static String asList(YamlNode node, String path) {
    if (node instanceof Mapping mapping && mapping.entries().size() == 1) {
      Map.Entry<String, Entry> only = mapping.entries().entrySet().iterator().next();
      if (only.getValue().value() instanceof Scalar scalar) {
        String word = YamlNode.shortened(only.getKey() + ":" + scalar.text());
        return "; a list is written " + path + "=[" + word + "]";
      }
    }
    return "";
  }

  private Optional<Object> list(ListOf shape, YamlNode node, String path) {
    if (!(node instanceof Sequence sequence)) {
      return problem(
          node,
          path,
          "expected a list of "
              + expected(shape.element())
              + ", got "
              + node.words()
              + asList(node, path));
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
      return problem(node, path, "expected a mapping of names, got " + node.words());
    }
    Values values = new Values(path, node.at());
    for (Map.Entry<String, Entry> member : mapping.entries().entrySet()) {
      String name = member.getKey();
      Entry entry = member.getValue();
      Scalar asScalar = new Scalar(entry.keyAt(), name, ScalarType.STRING);
      boolean goodName = scalar(shape.name(), asScalar, child(path, name)).isPresent();
      Optional<Object> value = value(shape.value(), entry.value(), child(path, name));
      if (goodName) {
        put(values, name, value, entry.value().at());
      }
    }
    return Optional.of(values);
  }

  private Optional<Object> problem(YamlNode node, String path, String message) {
    problems.add(new Problem(node.at(), path, message));
    Problem.throwIfTooMany(problems);
    return Optional.empty();
  }

  private static String expected(Shape shape) {
    if (shape instanceof ValueType type) {
      return type.expected();
    }
    if (shape instanceof Anything) {
      return "values";
    }
    return shape instanceof ListOf ? "a list" : "a mapping";
  }

  private static String child(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }
}
