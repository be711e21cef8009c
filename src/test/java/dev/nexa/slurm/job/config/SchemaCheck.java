package dev.nexa.slurm.job.config;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Holds YAML or JSON against a JSON Schema, as an editor does. It knows the words that our schemas
 * use, and refuses a schema that uses another: a word it passed over would be a test that cannot
 * fail.
 */
public final class SchemaCheck {
  private static final Set<String> KNOWN =
      Set.of(
          "$schema",
          "$defs",
          "title",
          "description",
          "default",
          "type",
          "properties",
          "required",
          "additionalProperties",
          "propertyNames",
          "items",
          "minItems",
          "anyOf",
          "patternProperties",
          "pattern",
          "minimum",
          "maximum",
          "enum");

  private static final String DEFINITION = "#/$defs/";

  private final JsonObject root;
  private final List<String> problems = new ArrayList<>();

  private SchemaCheck(JsonObject root) {
    this.root = root;
  }

  /** What in the document does not fit the schema; JSON is YAML too. */
  public static List<String> problems(JsonObject schema, String document) {
    List<Problem> unreadable = new ArrayList<>();
    Optional<YamlNode> tree = YamlReader.read("document", document, unreadable);
    if (tree.isEmpty() || !unreadable.isEmpty()) {
      throw new AssertionError(unreadable);
    }
    return problems(schema, tree.get());
  }

  /** What in the document does not fit {@code docs/schemas/<name>.schema.json}. */
  public static List<String> published(String name, String document) {
    Path file = Path.of("docs/schemas", name + ".schema.json");
    return problems(Json.parseObject(DurableFiles.read(file)), document);
  }

  static List<String> problems(JsonObject schema, YamlNode tree) {
    SchemaCheck check = new SchemaCheck(schema);
    check.node(schema, tree, "$");
    return check.problems;
  }

  private void node(JsonObject schema, YamlNode node, String path) {
    if (schema.members().containsKey("$ref")) {
      node(definition(schema, path), node, path);
      return;
    }
    for (String word : schema.members().keySet()) {
      if (!KNOWN.contains(word)) {
        throw new AssertionError(path + ": the schema uses '" + word + "', which is not checked");
      }
    }
    if (schema.members().containsKey("anyOf")) {
      anyOf(schema.objects("anyOf"), node, path);
    } else if (!schema.members().containsKey("type")) {
      assertAnything(schema, path);
    } else if (!types(schema).contains(type(node))
        && !(isWhole(node) && types(schema).contains("integer"))) {
      problems.add(path + ": is " + type(node) + ", not " + types(schema));
    } else if (node instanceof Mapping mapping) {
      mapping(schema, mapping, path);
    } else if (node instanceof Sequence sequence) {
      if (sequence.elements().size()
          < schema.optionalDecimal("minItems").orElse(BigDecimal.ZERO).intValue()) {
        problems.add(path + ": is too short");
      }
      for (int i = 0; i < sequence.elements().size(); i++) {
        node(schema.object("items"), sequence.elements().get(i), path + "[" + i + "]");
      }
    } else {
      Scalar scalar = (Scalar) node;
      text(schema, scalar.text(), path);
      if (scalar.type() == YamlNode.ScalarType.NUMBER) {
        number(schema, new BigDecimal(scalar.text()), path);
      }
    }
  }

  /** A reference may stand beside a description, and leads into the same schema. */
  private JsonObject definition(JsonObject reference, String path) {
    String target = reference.text("$ref");
    if (!target.startsWith(DEFINITION)
        || !Set.of("$ref", "description").containsAll(reference.members().keySet())) {
      throw new AssertionError(path + ": this reference is not checked: " + reference);
    }
    return root.object("$defs").object(target.substring(DEFINITION.length()));
  }

  /** It fits one of them; where none fits, what is wrong with each is told. */
  private void anyOf(List<JsonObject> schemas, YamlNode node, String path) {
    List<String> all = new ArrayList<>();
    for (JsonObject schema : schemas) {
      SchemaCheck check = new SchemaCheck(root);
      check.node(schema, node, path);
      if (check.problems.isEmpty()) {
        return;
      }
      all.addAll(check.problems);
    }
    problems.addAll(all);
  }

  private static void assertAnything(JsonObject schema, String path) {
    for (String word : schema.members().keySet()) {
      if (!word.equals("description")) {
        throw new AssertionError(path + ": the schema has no type, but " + word);
      }
    }
  }

  private void number(JsonObject schema, BigDecimal number, String path) {
    schema
        .optionalDecimal("minimum")
        .filter(least -> number.compareTo(least) < 0)
        .ifPresent(least -> problems.add(path + ": is less than " + least));
    schema
        .optionalDecimal("maximum")
        .filter(most -> number.compareTo(most) > 0)
        .ifPresent(most -> problems.add(path + ": is more than " + most));
  }

  private void mapping(JsonObject schema, Mapping mapping, String path) {
    JsonObject properties = schema.optionalObject("properties").orElse(new JsonObject());
    if (schema.members().containsKey("required")) {
      schema.texts("required").stream()
          .filter(name -> !mapping.entries().containsKey(name))
          .forEach(name -> problems.add(path + ": lacks " + name));
    }
    for (Map.Entry<String, YamlNode.Entry> entry : mapping.entries().entrySet()) {
      String name = entry.getKey();
      schema
          .optionalObject("propertyNames")
          .ifPresent(names -> text(names, name, path + "." + name));
      Optional<JsonObject> known =
          properties
              .optionalObject(name)
              .or(() -> patternProperty(schema, name))
              .or(() -> schema.optionalObject("additionalProperties"));
      if (known.isPresent()) {
        node(known.get(), entry.getValue().value(), path + "." + name);
      } else if (Boolean.FALSE.equals(schema.members().get("additionalProperties"))) {
        problems.add(path + ": knows no " + name);
      }
    }
  }

  private static Optional<JsonObject> patternProperty(JsonObject schema, String name) {
    JsonObject patterns = schema.optionalObject("patternProperties").orElse(new JsonObject());
    return patterns.members().keySet().stream()
        .filter(pattern -> Pattern.compile(pattern).matcher(name).find())
        .findFirst()
        .map(patterns::object);
  }

  private void text(JsonObject schema, String text, String path) {
    schema
        .optionalText("pattern")
        .filter(pattern -> !Pattern.compile(pattern).matcher(text).find())
        .ifPresent(pattern -> problems.add(path + ": '" + text + "' does not match " + pattern));
    if (schema.members().get("enum") instanceof List<?> words
        && words.stream().map(String::valueOf).noneMatch(text::equals)) {
      problems.add(path + ": '" + text + "' is none of " + words);
    }
  }

  private static List<String> types(JsonObject schema) {
    return schema.members().get("type") instanceof List<?>
        ? schema.texts("type")
        : List.of(schema.text("type"));
  }

  private static String type(YamlNode node) {
    if (node instanceof Scalar scalar) {
      return switch (scalar.type()) {
        case STRING -> "string";
        case NUMBER -> "number";
        case BOOLEAN -> "boolean";
        case NULL -> "null";
      };
    }
    return node instanceof Mapping ? "object" : "array";
  }

  private static boolean isWhole(YamlNode node) {
    return node instanceof Scalar scalar
        && scalar.type() == YamlNode.ScalarType.NUMBER
        && scalar.text().matches("-?\\d+");
  }
}
